import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Decodes text that was escaped for HTML or XML. */
export const decodeEntities = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))).replaceAll('&amp;', '&');

/** The addresses on this host that a page links to, shows or loads, or that its forms are sent to. */
export const addressesOfPage = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src|action|data-fallback)="(\/[^"]*)"/g)].map(([, written = '']) =>
    decodeEntities(written),
  );

/**
 * The links, images, scripts and forms of the pages below a folder whose target does not exist there, each as "page:
 * address". `ignore` selects addresses that something else answers.
 */
export const brokenLinks = (folder: string, ignore: (address: string) => boolean = () => false): string[] => {
  const files = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `/${path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/')}`),
  );
  const broken = new Set<string>();
  for (const file of files) {
    if (!file.endsWith('.html')) continue;
    for (const written of addressesOfPage(readFileSync(folder + file, 'utf8'))) {
      const address = decodeURIComponent(written.replace(/[?#].*/, ''));
      if (ignore(address)) continue;
      if (!files.has(address.endsWith('/') ? `${address}index.html` : address)) broken.add(`${file}: ${written}`);
    }
  }
  return [...broken];
};
