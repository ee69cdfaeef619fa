import type { Inventory } from '../publication/published-inventory.ts';
import type { Destination } from './destination.ts';

/** What is known about a destination. */
export interface Found {
  /** The files of the generation in force there; undefined if there is none, or it is not known. */
  readonly base: Inventory | undefined;
  /** The files of uploads that never ended, the latest last. Any of them may exist there, too. */
  readonly interrupted: readonly Inventory[];
  /** The paths of files that are no longer published, and may still exist there for a while. */
  readonly retired: ReadonlySet<string>;
  /** The forms in which the files in force were sent (`formOf` of a destination). */
  readonly forms: ReadonlySet<string>;
}

/**
 * What is known of a file at the destination. `new`: it does not exist there and has to be sent. `other`: it exists
 * there with other bytes. `look and send`: whether it exists is unknown; it has to be sent in any case. `look`: it has
 * to be sent unless it exists there.
 */
type Verdict = 'new' | 'other' | 'look and send' | 'look';

/** A file to send. */
export interface Planned {
  readonly path: string;
  readonly sha256: string;
  readonly names: readonly string[];
  readonly verdict: Verdict;
}

/** The files to send, and the names to remove, to bring a destination to a generation. */
export interface Plan {
  readonly planned: readonly Planned[];
  /** The names that no file of the generation has, each with the path of the file that had it. */
  readonly gone: ReadonlyMap<string, string>;
  readonly forms: string[];
  /** Whether it trusts no record. */
  readonly isDoubtful: boolean;
}

/** The names of the files of a generation. No two files have the same name. */
export class Naming {
  readonly #wanted: Inventory;
  readonly #destination: Destination;
  readonly #spaced: ReadonlySet<string>;

  constructor(wanted: Inventory, destination: Destination) {
    this.#wanted = wanted;
    this.#destination = destination;
    // Only a name that contains a blank can be the path of one file and another spelling of a second file's path.
    const spaced = [...wanted.keys()].filter((path) => path.includes(' ') || path.includes('=20'));
    this.#spaced = new Set(spaced.flatMap((path) => [...destination.namesOf(path, () => false)]));
  }

  namesOf(path: string): readonly string[] {
    return this.#destination.namesOf(path, (name) => this.#spaced.has(name));
  }

  /** Whether a name that this file has or had belongs to a file of the generation. */
  isWanted(name: string, path: string): boolean {
    if (this.#wanted.has(name) || this.#spaced.has(name)) return true;
    return this.#wanted.has(path) && this.namesOf(path).includes(name);
  }
}

/** What is known of a file at the destination; undefined if it need not be sent. */
const judge = (
  path: string,
  sha256: string,
  { base, interrupted, retired, forms }: Found,
  form: string,
): Verdict | undefined => {
  const known = base?.get(path);
  // Readers may already have seen what the interrupted upload sent: it had begun to replace the entry documents.
  const unsent = known === undefined ? 'look and send' : 'other';
  if (interrupted.some((inventory) => inventory.has(path) && inventory.get(path) !== known)) {
    // A store that shows replacements late may still show the file of an earlier upload.
    const latest = interrupted.findLast((inventory) => inventory.has(path));
    return latest?.get(path) === sha256 ? 'look' : unsent;
  }
  if (known === undefined) return retired.has(path) ? unsent : 'new';
  if (known !== sha256) return 'other';
  return forms.has(form) ? undefined : 'look';
};

/** Computes what to send. If `isDoubtful`, it trusts no record: every file is looked for at the destination. */
export const makePlan = (wanted: Inventory, found: Found, destination: Destination, isDoubtful: boolean): Plan => {
  const naming = new Naming(wanted, destination);
  const planned: Planned[] = [];
  const forms = new Set<string>();
  for (const [path, sha256] of wanted) {
    const form = destination.formOf(path);
    forms.add(form);
    const verdict = isDoubtful ? 'look' : judge(path, sha256, found, form);
    if (verdict !== undefined) planned.push({ path, sha256, names: naming.namesOf(path), verdict });
  }
  // Files that were sent with other options may have names that they should no longer have.
  const hasOtherNames = !found.forms.isSubsetOf(forms);
  const gone = new Map<string, string>();
  for (const inventory of [...(found.base === undefined ? [] : [found.base]), ...found.interrupted]) {
    for (const path of inventory.keys()) {
      if (!hasOtherNames && wanted.has(path)) continue;
      for (const name of destination.everyNameOf(path)) if (!naming.isWanted(name, path)) gone.set(name, path);
    }
  }
  return { planned, gone, forms: [...forms], isDoubtful };
};
