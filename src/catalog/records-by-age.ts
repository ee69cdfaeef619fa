import { compareVersions } from '../apt/version.ts';

/** A written record of a package. */
interface Aged {
  readonly version: string;
  readonly row: number;
}

/**
 * Which record of a package is the oldest, for the few packages that are ever asked about. Of equal versions the one
 * that was written last counts as older, because the first has the mark "latest".
 */
export class RecordsByAge {
  readonly #read: (name: string) => Aged[];
  /** By package, the oldest first. */
  readonly #known = new Map<string, Aged[]>();

  /** `read` returns the written records of a package, in the order of their rows. */
  constructor(read: (name: string) => Aged[]) {
    this.#read = read;
  }

  oldestOf(name: string): Aged | undefined {
    let known = this.#known.get(name);
    if (known === undefined) {
      known = this.#read(name).sort((a, b) => compareVersions(a.version, b.version) || b.row - a.row);
      this.#known.set(name, known);
    }
    return known[0];
  }

  /** Must be called for each record that is written, once. */
  add(name: string, one: Aged): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareVersions(known[middle]?.version ?? '', one.version) < 0) low = middle + 1;
      else high = middle;
    }
    known.splice(low, 0, one);
  }

  /** Must be called for each record that is removed. */
  remove(name: string, row: number): void {
    const known = this.#known.get(name);
    const at = known?.findIndex((one) => one.row === row) ?? -1;
    if (at !== -1) known?.splice(at, 1);
  }
}
