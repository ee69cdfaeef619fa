import { describedBy } from '../catalog/placeholder.ts';
import { listOrder } from '../catalog/reading.ts';
import { buildOf, wordOf } from '../compatibility/builds.ts';
import { parseRelations, writeAlternatives } from './relations.ts';
import type { PackageVersion } from './site-catalog.ts';

/** The differences from the previous version. If no build is for an architecture of that one, only the architectures. */
export interface VersionChange {
  readonly version: string;
  readonly before: string;
  /** `first` are those of `gained` that no earlier version had. */
  readonly architectures: {
    readonly gained: readonly string[];
    readonly first: readonly string[];
    readonly lost: readonly string[];
  };
  readonly needs: {
    readonly gained: readonly string[];
    readonly lost: readonly string[];
    /** Those of which only the versions that do are others. */
    readonly bounded: readonly { readonly now: string; readonly before: string }[];
  };
  /** Bytes before and after, if they are known and differ by a tenth or more. */
  readonly size: { readonly before: number; readonly after: number } | undefined;
  /** What became of the description, unless it is the same. */
  readonly description: 'new' | 'gone' | undefined;
}

/** All records of one version in one repository. */
interface Edition {
  readonly version: string;
  readonly builds: readonly PackageVersion[];
}

const groupByVersion = (versions: readonly PackageVersion[]): Edition[] =>
  [...Map.groupBy(versions, ({ record }) => record.version)].map(([version, builds]) => ({ version, builds }));

/** A group of alternatives, any of which meets the need. */
interface Need {
  /** Its names, without the versions that do. */
  readonly names: string;
  /** The whole of it, to compare: repositories write the same with and without blanks. */
  readonly key: string;
  readonly text: string;
}

const needsOf = ({ details }: PackageVersion): Need[] =>
  [details.preDepends, details.depends]
    .flatMap((field) => parseRelations(field))
    .map((group) => {
      const text = writeAlternatives(group);
      return { names: group.map(({ name }) => name).join(' or '), key: text.replaceAll(' ', ''), text };
    });

const needsBeyond = (all: readonly Need[], these: readonly Need[]): Need[] => {
  const known = new Set(these.map(({ key }) => key));
  return all.filter(({ key }) => !known.has(key) && known.add(key));
};

const needsChange = (after: PackageVersion, before: PackageVersion): VersionChange['needs'] => {
  const isSame =
    after.details.depends === before.details.depends && after.details.preDepends === before.details.preDepends;
  if (isSame) return { gained: [], lost: [], bounded: [] };
  const [now, then] = [needsOf(after), needsOf(before)];
  const lost = needsBeyond(then, now);
  const gained: string[] = [];
  const bounded: { now: string; before: string }[] = [];
  for (const { names, text } of needsBeyond(now, then)) {
    const place = lost.findIndex((one) => one.names === names);
    const [other] = place === -1 ? [] : lost.splice(place, 1);
    if (other === undefined) gained.push(text);
    else bounded.push({ now: text, before: other.text });
  }
  return { gained, lost: lost.map(({ text }) => text), bounded };
};

/** The same build in two versions. */
type Pair = readonly [after: PackageVersion, before: PackageVersion];

/** The same for several builds: what is not true of all of them is followed by those of which it is. */
const needsChanges = (pairs: readonly Pair[]): VersionChange['needs'] => {
  const each = pairs.map(([one, other]) => ({ word: buildWord(one.record.architecture), ...needsChange(one, other) }));
  const told = (textsOf: (one: VersionChange['needs']) => readonly string[]): { text: string; of: string }[] => {
    const said = each.flatMap((one) => textsOf(one).map((text) => ({ text, word: one.word })));
    return [...Map.groupBy(said, ({ text }) => text)].map(([text, of]) => ({
      text,
      of: of.length < each.length ? ` (${of.map(({ word }) => word).join(', ')})` : '',
    }));
  };
  return {
    gained: told(({ gained }) => gained).map(({ text, of }) => text + of),
    lost: told(({ lost }) => lost).map(({ text, of }) => text + of),
    bounded: told(({ bounded }) => bounded.map((one) => JSON.stringify(one))).map(({ text, of }) => {
      const { now, before } = JSON.parse(text) as VersionChange['needs']['bounded'][number];
      return { now: now + of, before };
    }),
  };
};

const without = (all: readonly string[], these: readonly string[]): string[] =>
  [...new Set(all)].filter((one) => !these.includes(one));

const leastChange = 0.1;

const sizeChange = (after: PackageVersion, before: PackageVersion): VersionChange['size'] => {
  const sizes = { before: before.record.package_size, after: after.record.package_size };
  if (sizes.before === 0 || sizes.after === 0) return undefined;
  return Math.abs(sizes.after - sizes.before) / sizes.before < leastChange ? undefined : sizes;
};

const architecturesOf = ({ builds }: Edition): string[] => builds.map(({ record }) => record.architecture);

const descriptionChange = (after: PackageVersion, before: PackageVersion): VersionChange['description'] => {
  const text = describedBy(after.record.description);
  if (text === describedBy(before.record.description)) return undefined;
  return text === null ? 'gone' : 'new';
};

/** Of the first of these builds of which something is to be told. */
const firstOf = <Told>(pairs: readonly Pair[], tell: (...pair: Pair) => Told | undefined): Told | undefined =>
  pairs.map((pair) => tell(...pair)).find((told) => told !== undefined);

const compareEditions = (after: Edition, before: Edition, firstHaving: ReadonlyMap<string, Edition>): VersionChange => {
  // Compares only builds that both have, because builds for two architectures differ in needs, size and words anyway.
  const earlier = new Map(before.builds.map((one) => [one.record.architecture, one]));
  const pairs = after.builds.flatMap((one): Pair[] => {
    const other = earlier.get(one.record.architecture);
    return other === undefined ? [] : [[one, other]];
  });
  const gained = without(architecturesOf(after), architecturesOf(before));
  return {
    version: after.version,
    before: before.version,
    architectures: {
      gained,
      first: gained.filter((one) => firstHaving.get(one) === after),
      lost: without(architecturesOf(before), architecturesOf(after)),
    },
    needs: needsChanges(pairs),
    size: firstOf(pairs, sizeChange),
    description: firstOf(pairs, descriptionChange),
  };
};

const shownChanges = 6;

/** The last changes, and whether there are earlier ones, which a page leaves out. */
export interface VersionChanges {
  readonly changes: readonly VersionChange[];
  readonly hasEarlierChanges: boolean;
}

/**
 * What changed from each version to the next in one repository, the newest first. Versions that differ only in their
 * number are left out.
 */
export const computeChanges = (versions: readonly PackageVersion[]): VersionChanges => {
  const editions = groupByVersion([...versions].sort((a, b) => listOrder(a.record, b.record)));
  // From the newest to the oldest, so that the oldest stays.
  const firstHaving = new Map(
    editions.flatMap((edition) => architecturesOf(edition).map((one) => [one, edition] as const)),
  );
  const changes: VersionChange[] = [];
  for (const [index, edition] of editions.entries()) {
    const before = editions[index + 1];
    if (before === undefined) break;
    const change = compareEditions(edition, before, firstHaving);
    const { architectures, needs, size, description } = change;
    const lists = [architectures.gained, architectures.lost, needs.gained, needs.lost, needs.bounded];
    if (description === undefined && size === undefined && lists.every((list) => list.length === 0)) continue;
    if (changes.length === shownChanges) return { changes, hasEarlierChanges: true };
    changes.push(change);
  }
  return { changes, hasEarlierChanges: false };
};

/** An architecture for people: "rootless", or its own name if it is not that of an iOS device. */
export const buildWord = (architecture: string): string => {
  const build = buildOf(architecture);
  return build === undefined || build === 'all' ? architecture : wordOf(build);
};
