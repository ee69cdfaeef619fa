import type { Inventory } from '../publication/published-inventory.ts';
import type { Destination } from './destination.ts';

/** What is known of a destination. */
export interface Found {
  /** The files of the generation in force there; undefined where there is none, or nobody knows. */
  readonly base: Inventory | undefined;
  /** Those of uploads that never ended, the latest last: any of them may stand there too. */
  readonly interrupted: readonly Inventory[];
  /** The paths of files that are no longer published, and may stand there for a while yet. */
  readonly retired: ReadonlySet<string>;
  /** What is said of the files in force to those who ask for them. */
  readonly forms: ReadonlySet<string>;
}

/**
 * What is known of a file at the destination: that it has to be sent and does not stand there, or stands there as
 * another; or that one has to look, and has to send it whatever one sees, or not where it stands there already.
 */
type Verdict = 'new' | 'other' | 'look and send' | 'look';

/** A file to send. */
export interface Planned {
  readonly path: string;
  readonly sha256: string;
  readonly names: readonly string[];
  readonly verdict: Verdict;
}

/** What brings a destination to a generation. */
export interface Plan {
  readonly planned: readonly Planned[];
  /** The names that no file of the generation has, each with the path of the file that had it. */
  readonly gone: ReadonlyMap<string, string>;
  readonly forms: string[];
}

/** The names of the files of a generation, of which none has the name of another. */
export class Naming {
  readonly #wanted: Inventory;
  readonly #destination: Destination;
  readonly #spaced: ReadonlySet<string>;

  constructor(wanted: Inventory, destination: Destination) {
    this.#wanted = wanted;
    this.#destination = destination;
    // Only a name with a blank in it can be both one of a file and another spelling of one of a second.
    const spaced = [...wanted.keys()].filter((path) => path.includes(' ') || path.includes('=20'));
    this.#spaced = new Set(spaced.flatMap((path) => [...destination.namesOf(path, () => false)]));
  }

  namesOf(path: string): readonly string[] {
    return this.#destination.namesOf(path, (name) => this.#spaced.has(name) || this.#wanted.has(name));
  }

  /** Whether a name that this file had, or has, is that of a file of the generation. */
  isWanted(name: string, path: string): boolean {
    if (this.#wanted.has(name) || this.#spaced.has(name)) return true;
    return this.#wanted.has(path) && this.namesOf(path).includes(name);
  }
}

/** What is known of a file at the destination; undefined where it need not be sent. */
const judge = (
  path: string,
  sha256: string,
  { base, interrupted, retired, forms }: Found,
  form: string,
): Verdict | undefined => {
  const known = base?.get(path);
  // What an upload that was interrupted brought readers may have met already: it had got as far as the entrances.
  const unsent = known === undefined ? 'look and send' : 'other';
  if (interrupted.some((inventory) => inventory.has(path) && inventory.get(path) !== known)) {
    // A store that is slow to show what was replaced may still show what an earlier one sent.
    const latest = interrupted.findLast((inventory) => inventory.has(path));
    return latest?.get(path) === sha256 ? 'look' : unsent;
  }
  if (known === undefined) return retired.has(path) ? unsent : 'new';
  if (known !== sha256) return 'other';
  return forms.has(form) ? undefined : 'look';
};

/** Computes what is to be sent. With `isDoubtful` every file is to be looked for. */
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
  // Sent in other ways, files that are there still may have names that they are not to have any more.
  const hasOtherNames = !found.forms.isSubsetOf(forms);
  const gone = new Map<string, string>();
  for (const inventory of [...(found.base === undefined ? [] : [found.base]), ...found.interrupted]) {
    for (const path of inventory.keys()) {
      if (!hasOtherNames && wanted.has(path)) continue;
      for (const name of destination.everyNameOf(path)) if (!naming.isWanted(name, path)) gone.set(name, path);
    }
  }
  return { planned, gone, forms: [...forms] };
};
