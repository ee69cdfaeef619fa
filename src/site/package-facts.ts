import { hash } from 'node:crypto';
import { parseDetails } from '../catalog/record-details.ts';
import type { KeyedRecord } from './package-summary.ts';
import { RelationIndex } from './relation-index.ts';

// No column can contain a NUL.
const digestRows = (keyed: readonly KeyedRecord[]): string =>
  hash('sha256', keyed.map(({ row }) => row.join('\0')).join('\0'), 'base64url');

/** What pages of packages, and nothing else, need to know of all packages together. */
export class PackageFacts {
  readonly relations = new RelationIndex();
  /**
   * A digest of all records of each package, as stored in the catalog, and of how many are dated after the build; by
   * identifier.
   */
  readonly digests = new Map<string, string>();
  readonly #builtAt: string | undefined;

  /** @param builtAt when the build was that is shown, ISO 8601 */
  constructor(builtAt: string | undefined) {
    this.#builtAt = builtAt;
  }

  /** Adds a package by its records, which are in the order of its page. */
  add(id: string, keyed: readonly KeyedRecord[]): void {
    // A version that is dated after the build is only shown as news when that day has come.
    const until = this.#builtAt;
    const later = until === undefined ? 0 : keyed.filter(({ row }) => row[5] > until).length;
    this.digests.set(id, later === 0 ? digestRows(keyed) : `${digestRows(keyed)} ${later}`);
    const [best, ...rest] = keyed;
    const details = best?.row[8] ?? null;
    // Most packages have one build, or say the same of all of them.
    const differing = rest.filter((one) => one.latest && one.owner === best?.owner && one.row[8] !== details);
    if (details === null && differing.length === 0) return;
    this.relations.add(
      id,
      parseDetails(details),
      differing.map(({ architecture, row }) => ({ architecture, details: parseDetails(row[8]) })),
    );
  }
}
