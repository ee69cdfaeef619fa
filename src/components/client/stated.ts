import { statedLists } from '../../results/stated-lists.ts';
import { addressOf } from './address.ts';
import { hasDevice } from './visitor-device.ts';

// Rows made from records of the API only know what the architectures state about devices. If the visitor has a device,
// the rest is read from the lists of the build.

type List = ReadonlyMap<string, string>;
const count = Number(document.getElementById('device-bar')?.dataset.lists ?? 1);
const lists = new Map<number, Promise<List>>();

const readList = async (number: number): Promise<List> => {
  const response = await fetch(addressOf(statedLists.file(number)));
  if (response.status === 404) return new Map();
  if (!response.ok) throw new Error(`statements: ${response.status}`);
  return new Map(Object.entries((await response.json()) as Record<string, string>));
};

const listOf = (id: string): Promise<List> => {
  const number = statedLists.of(id, count);
  const known = lists.get(number);
  if (known !== undefined) return known;
  const list = readList(number);
  lists.set(number, list);
  list.catch(() => lists.delete(number));
  return list;
};

/**
 * What a package states about devices, if a device is known. If the lists cannot be read, what the row already
 * contains.
 */
const statedBy = async (id: string, runs: string): Promise<string> => {
  const list = await listOf(id).catch((): List => new Map());
  return list.get(id) ?? runs;
};

/** The same packages with everything that they state, if a device is known. */
export const withStatements = async <T extends { readonly id: string; readonly runs: string | undefined }>(
  found: readonly T[],
): Promise<readonly T[]> => {
  if (!hasDevice()) return found;
  return Promise.all(
    found.map(async (one) => (one.runs === undefined ? one : { ...one, runs: await statedBy(one.id, one.runs) })),
  );
};
