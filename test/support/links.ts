import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Text as it was before it was escaped for HTML or XML. */
export const decodeEntities = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))).replaceAll('&amp;', '&');

/** The addresses on this host that a page links to, shows or loads, and that its forms send to. */
export const addressesOfPage = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src|action|data-fallback)="(\/[^"]*)"/g)].map(([, written = '']) =>
    decodeEntities(written),
  );

/**
 * The links, images, scripts and forms of the built pages below a folder whose target is no file there, each as
 * "page: address". `ignore` names addresses that something else answers.
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
