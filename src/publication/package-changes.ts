import { rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type PackageChange, packageChangeSchema } from '../contract/generation.ts';
import { readJsonFile } from '../disk/json-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';

const filePath = (state: string): string => path.join(state, 'publication', 'packages.json');

// `after` is the number of the generation that was the last when they were kept. Earlier programs stored the
// list alone: if one was killed, its changes are announced too. The list is null if it is not known what changed.
const pendingSchema = z.union([
  z.object({ after: z.int(), packages: z.array(packageChangeSchema).nullable() }),
  z.array(packageChangeSchema).transform((packages) => ({ after: Infinity, packages })),
]);

/**
 * Adds later changes to earlier ones, so that the result leads from before the earlier to after the later. If something
 * ends as it began, there is no change.
 */
export const mergeChanges = (earlier: readonly PackageChange[], later: readonly PackageChange[]): PackageChange[] => {
  const keyOf = ({ package_id: id, repository }: PackageChange) => `${repository}\n${id}`;
  const merged = new Map(earlier.map((change) => [keyOf(change), change]));
  for (const change of later) {
    const known = merged.get(keyOf(change));
    const previous = known === undefined ? change.previous_version : known.previous_version;
    const { version } = change;
    if (version === previous) merged.delete(keyOf(change));
    else {
      const kind = version === null ? 'removed' : previous === null ? 'added' : 'updated';
      merged.set(keyOf(change), { ...change, change: kind, previous_version: previous });
    }
  }
  return [...merged.values()].sort((one, other) => (keyOrder(one) < keyOrder(other) ? -1 : 1));
};

const keyOrder = ({ package_id: id, repository }: PackageChange): string => `${id}\n${repository}`;

/** What is published now. */
interface Present {
  /** The number of the last generation. */
  readonly last: number;
  /** The manifest, which may differ from the one when a change was stored. */
  readonly repositories: readonly { readonly slug: string; readonly aliases: readonly string[] }[];
}

/** The changes under the present slugs of their repositories, without those of removed repositories. */
const underPresentSlugs = (changes: readonly PackageChange[], { repositories }: Present): PackageChange[] => {
  const slugs = new Map(repositories.flatMap(({ slug, aliases }) => aliases.map((alias) => [alias, slug])));
  for (const { slug } of repositories) slugs.set(slug, slug);
  return changes.flatMap((change) => {
    const repository = slugs.get(change.repository);
    return repository === undefined ? [] : { ...change, repository };
  });
};

/**
 * Changes of packages that no generation has announced yet. A build that ends between its generation and
 * `forgetPendingChanges` leaves changes that were announced already. They are ignored: announced again, they would hide
 * what was undone since. Undefined if it is not known what changed.
 */
export const readPendingChanges = (state: string, present: Present): PackageChange[] | undefined => {
  const pending = readJsonFile(filePath(state), pendingSchema);
  if (pending === undefined || pending.after < present.last) return [];
  const { packages } = pending;
  return packages === null ? undefined : mergeChanges([], underPresentSlugs(packages, present));
};

/**
 * Stores the changes that are about to come into force, so that the generation announces them even if this build is
 * killed or the power fails. To be called before the catalog is put into force; may be repeated. Undefined `changes` are
 * not known, and whatever else came before the next generation does not make them known.
 */
export const keepPendingChanges = (
  state: string,
  changes: readonly PackageChange[] | undefined,
  present: Present,
): void => {
  if (changes?.length === 0) return;
  const earlier = readPendingChanges(state, present);
  const isKnown = changes !== undefined && earlier !== undefined;
  const pending = { after: present.last, packages: isKnown ? mergeChanges(earlier, changes) : null };
  writeWholeFile(filePath(state), `${JSON.stringify(pending)}\n`, { durable: true });
};

/** To be called when a generation has announced them. */
export const forgetPendingChanges = (state: string): void => rmSync(filePath(state), { force: true });
