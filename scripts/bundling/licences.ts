import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const usual = /^licen[cs]e/i;

/** The licences of the packages that these modules come from, each with the package's name. */
export const readLicences = (modules: Iterable<string>): string => {
  const folders = new Set<string>();
  for (const file of modules) {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((one) => usual.test(one));
      const text = file === undefined ? license : readFileSync(path.join(folder, file), 'utf8').trim();
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
};
