import {
  type ManifestEntry,
  manifestEntrySchema,
  repositoryKey,
  slugKey,
  slugPattern,
} from '../../src/contract/manifest.ts';
import { sayMistake } from '../../src/contract/mistakes.ts';
import { findKeyFault, tellIssue } from '../../src/crawl/read-manifest.ts';
import type { SafetyList } from '../../src/safety/safety-list.ts';

/** A new entry, and the other entries of the list that lead to the same repository. */
interface Taken {
  readonly entry: ManifestEntry;
  /** What was left out of the foreign entry, and why; a clause each. */
  readonly left: readonly string[];
}

/** What to do with each entry of a foreign list. */
export interface ImportPlan {
  readonly taken: readonly Taken[];
  /** Entries whose repository the manifest has. `missing` are names that do not lead to it yet. */
  readonly present: readonly { readonly slug: string; readonly as: string; readonly missing: readonly string[] }[];
  /** Invalid entries, with every reason. */
  readonly refused: readonly { readonly place: string; readonly reasons: readonly string[] }[];
}

const fields = ['slug', 'uri', 'suite', 'component', 'binary', 'ranking', 'bootstrap', 'aliases', 'key', 'headers'];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Converts a foreign entry to one of ours, without the fields that ours cannot have; a list of reasons if that is
 * impossible.
 */
const readForeign = async (value: unknown): Promise<Taken | readonly string[]> => {
  if (!isObject(value)) return ['is no entry: an entry has a slug, a uri and a ranking'];
  const left: string[] = [];
  const given: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    if (!fields.includes(name)) left.push(`${JSON.stringify(name)}, which is no field of an entry`);
    // Older lists write null for a missing field.
    else if (field !== null) given[name] = field;
  }
  if (Array.isArray(given.aliases)) {
    const isSlug = (alias: unknown) => typeof alias === 'string' && slugPattern.test(alias);
    for (const alias of given.aliases) {
      if (!isSlug(alias)) left.push(`the alias ${JSON.stringify(alias)}, which is no slug`);
    }
    given.aliases = [...new Set(given.aliases.filter(isSlug))].filter((alias) => alias !== given.slug);
  }
  if (typeof given.uri === 'string') given.uri = given.uri.replace(/(?<=[^/])\/+$/, '');
  const checked = manifestEntrySchema.safeParse(given, { error: sayMistake });
  if (!checked.success)
    return checked.error.issues.map((issue) => `${issue.path.join('.') || 'the entry'}: ${tellIssue(issue)}`);
  const keyFault = await findKeyFault(checked.data.key);
  return keyFault === undefined ? { entry: checked.data, left } : [`key: ${keyFault}`];
};

/**
 * Compares a foreign list with the manifest. Entries of one repository (address without scheme and trailing slashes,
 * suite, component, architecture) count as one: the first one in the list is taken, and the names of the others become
 * its aliases. An entry gets no slug or alias that already leads elsewhere, and no address that `safety` refuses.
 */
export const planImport = async (
  known: readonly ManifestEntry[],
  foreign: readonly unknown[],
  safety: Pick<SafetyList, 'check'>,
): Promise<ImportPlan> => {
  const owners = new Map<string, string>();
  const places = new Map<string, { slug: string; taken?: Taken }>();
  for (const entry of known) {
    for (const name of [entry.slug, ...entry.aliases]) owners.set(slugKey(name), entry.slug);
    places.set(repositoryKey(entry), { slug: entry.slug });
  }
  const taken: Taken[] = [];
  const present: ImportPlan['present'][number][] = [];
  const refused: ImportPlan['refused'][number][] = [];

  for (const [index, value] of foreign.entries()) {
    const named = isObject(value) && typeof value.slug === 'string' ? `${JSON.stringify(value.slug)} ` : '';
    const place = `${named}([${index}])`;
    const read = await readForeign(value);
    if (!('entry' in read)) {
      refused.push({ place, reasons: read });
      continue;
    }
    const { entry, left } = read;
    const names = [entry.slug, ...entry.aliases];
    const at = places.get(repositoryKey(entry));
    if (at !== undefined) {
      const free = names.filter((name) => !owners.has(slugKey(name)));
      if (at.taken === undefined) present.push({ slug: entry.slug, as: at.slug, missing: free });
      else {
        at.taken.entry.aliases.push(...free);
        for (const name of free) owners.set(slugKey(name), at.slug);
      }
      continue;
    }
    const owner = owners.get(slugKey(entry.slug));
    const reasons = [
      ...(owner === undefined
        ? []
        : [`slug: leads to ${owner} already, whose repository is another; give this one a slug of its own`]),
      ...(safety.check(entry.uri) ? [] : [`uri: ${entry.uri} is on the safety list, or no package manager can add it`]),
    ];
    if (reasons.length > 0) {
      refused.push({ place, reasons });
      continue;
    }
    const aliases = entry.aliases.filter((name) => !owners.has(slugKey(name)));
    const lost = entry.aliases.filter((name) => owners.has(slugKey(name)));
    const own = {
      entry: { ...entry, aliases },
      left: [...left, ...lost.map((name) => `the alias ${name}, which leads to ${owners.get(slugKey(name))} already`)],
    };
    for (const name of [entry.slug, ...aliases]) owners.set(slugKey(name), entry.slug);
    places.set(repositoryKey(entry), { slug: entry.slug, taken: own });
    taken.push(own);
  }
  return { taken, present, refused };
};
