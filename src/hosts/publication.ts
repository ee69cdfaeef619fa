import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { decodeFileName } from '../contract/filenames.ts';
import { basePathOf, describedAddress, documentPath } from '../contract/paths.ts';
import { type RuleInput, RulesImpossible } from './host-rules.ts';

const packages = documentPath.package('x').replace(/x\.json$/, '');

const readBase = (folder: string): string => {
  const file = path.join(folder, documentPath.openapiJson);
  if (!existsSync(file)) {
    throw new RulesImpossible(`There is no publication in ${folder}: build it first, with npm run build.`);
  }
  const base = describedAddress(readFileSync(file, 'utf8'));
  if (base === undefined) throw new RulesImpossible(`${file} does not say where the publication lies.`);
  return base;
};

const listDocuments = (folder: string): string[] => {
  const inside = path.join(folder, packages);
  if (!existsSync(inside)) return [];
  return readdirSync(inside, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => path.relative(inside, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'));
};

/** What a published folder says of itself that rules depend on. Throws RulesImpossible where it holds no publication. */
export const readPublication = (folder: string): Omit<RuleInput, 'functionUrl' | 'now'> => {
  const base = readBase(folder);
  const names = listDocuments(folder)
    .map((file) => [decodeFileName(file.slice(0, -'.json'.length)), `${packages}${file}`] as const)
    .filter(
      (pair): pair is readonly [string, string] => pair[0] !== undefined && pair[1] !== `${packages}${pair[0]}.json`,
    )
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    base,
    below: basePathOf(base),
    folder: path.resolve(folder),
    site: existsSync(path.join(folder, 'index.html')),
    encodedNames: new Map(names),
  };
};
