import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { encodeFolderName } from '../contract/filenames.ts';
import { type Depiction, depictionSchema } from './depiction.ts';

// The folder's name contains the version of the format. What another version made of a depiction is requested again.
const formatVersion = 'v1';

/** The folder of the depictions of a repository, below that of its snapshot. */
export const depictionsName = 'depictions';

/** The folder in which the depictions of a repository are kept; `root` is the folder of all snapshots. */
export const depictionsFolder = (root: string, slug: string): string =>
  path.join(root, encodeFolderName(slug), depictionsName, formatVersion);

/** The file of the depiction at this address. */
export const depictionFile = (url: string): string => `${hash('sha256', url)}.json`;

/** Parses the file of a depiction. Undefined if it is not as a build wrote it. */
export const parseKept = (text: string): Depiction | undefined => {
  try {
    return depictionSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** The depiction that is kept of this address; undefined if there is none, or the file is invalid. */
export const readKeptDepiction = (root: string, slug: string, url: string): Depiction | undefined => {
  try {
    return parseKept(readFileSync(path.join(depictionsFolder(root, slug), depictionFile(url)), 'utf8'));
  } catch {
    return undefined;
  }
};
