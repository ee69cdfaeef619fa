import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { namedDocument } from '../contract/named-documents.ts';
import { apiRoot, basePathOf, describedAddress, documentPath } from '../contract/paths.ts';
import { findEntry } from '../disk/find-entry.ts';
import { addressWith, type EncodedDocument, type RuleInput, RulesImpossible } from './host-rules.ts';

/** The folder of the documents named after packages and repositories. */
const named = `${apiRoot}/jailbreak`;

const readBase = (folder: string): string => {
  const file = path.join(folder, documentPath.openapiJson);
  if (findEntry(file) === undefined) {
    throw new RulesImpossible(`There is no publication in ${folder}: build it first, with npm run build.`);
  }
  const base = describedAddress(readFileSync(file, 'utf8'));
  if (base === undefined) throw new RulesImpossible(`${file} does not say where the publication lies.`);
  return base;
};

const listDocuments = (folder: string): string[] => {
  const inside = path.join(folder, named);
  if (!existsSync(inside)) return [];
  return readdirSync(inside, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .sort();
};

const asEncoded = (file: string): EncodedDocument[] => {
  const found = namedDocument(file);
  if (found === undefined) return [];
  const document = { address: found.address.slice(apiRoot.length), names: found.names, file };
  return `${apiRoot}${addressWith(document, (name) => name)}.json` === file ? [] : [document];
};

/** The properties of a published folder that rules depend on. Throws RulesImpossible if it contains no publication. */
export const readPublication = (folder: string): Omit<RuleInput, 'functionUrl' | 'now'> => {
  const base = readBase(folder);
  return {
    base,
    below: basePathOf(base),
    folder: path.resolve(folder),
    site: existsSync(path.join(folder, 'index.html')),
    encodedDocuments: listDocuments(folder).flatMap(asEncoded),
  };
};
