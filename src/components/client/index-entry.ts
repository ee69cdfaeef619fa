import { type IndexEntry, indexEntry } from '../../results/file-index.ts';
import { addressOf } from './address.ts';

// The file that names all others of the search index among the files. It is asked for while the script that reads it
// loads.

/** The entry, and its text, which identifies the index. */
export interface ReadEntry {
  readonly entry: IndexEntry;
  readonly text: string;
}

let reading: Promise<ReadEntry> | undefined;

const read = async (): Promise<ReadEntry> => {
  // Whatever a cache has is compared: the files that a former one names are gone.
  const response = await fetch(addressOf(indexEntry), { cache: 'no-cache' });
  if (!response.ok) throw new Error(`${response.status}`);
  const text = await response.text();
  const entry = JSON.parse(text) as IndexEntry;
  // What else a host answers in JSON is not kept: it may tell of a moment only.
  if (typeof entry.rows !== 'string') throw new Error('no index');
  return { entry, text };
};

/** The entry, which is read once; `isAnew` reads it again. If that failed, or is none, a later call tries again. */
export const readEntry = (isAnew = false): Promise<ReadEntry> => {
  if (reading !== undefined && !isAnew) return reading;
  const own = read();
  reading = own;
  own.catch(() => {
    if (reading === own) reading = undefined;
  });
  return own;
};
