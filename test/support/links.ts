import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const decodeEntities = (text: string): string =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))).replaceAll('&amp;', '&');

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
    const html = readFileSync(folder + file, 'utf8');
    for (const [, written = ''] of html.matchAll(/ (?:href|src|action|data-fallback)="(\/[^"]*)"/g)) {
      const address = decodeURIComponent(decodeEntities(written).replace(/[?#].*/, ''));
      if (ignore(address)) continue;
      if (!files.has(address.endsWith('/') ? `${address}index.html` : address)) broken.add(`${file}: ${written}`);
    }
  }
  return [...broken];
};
