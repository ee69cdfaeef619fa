import { statedLists } from '../../results/stated-lists.ts';
import { addressOf } from './address.ts';
import { mayRun, regroup } from './visitor-device.ts';

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

/** The same packages with everything that they state. */
export const withStatements = <T extends { readonly id: string; readonly runs: string | undefined }>(
  found: readonly T[],
): Promise<readonly T[]> =>
  Promise.all(
    found.map(async (one) => (one.runs === undefined ? one : { ...one, runs: await statedBy(one.id, one.runs) })),
  );

/**
 * Gives the rows of a list, which the function made, everything that their packages state, and groups them. Resolves to
 * how many of them may run on the visitor's device.
 */
export const stateRows = async (list: HTMLElement): Promise<number> => {
  const rows = [...list.querySelectorAll<HTMLElement>('[data-runs]')];
  const stated = await Promise.all(rows.map(({ dataset: { package: id = '', runs = '' } }) => statedBy(id, runs)));
  for (const [index, row] of rows.entries()) row.dataset.runs = stated[index];
  regroup(list);
  return stated.filter(mayRun).length;
};
