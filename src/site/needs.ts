import { relationFields } from '../catalog/record-details.ts';
import { isOfDevice } from '../compatibility/device-packages.ts';
import type { PackageSummary } from './package-summary.ts';
import { countUnread, parseRelations, type Relation, writeAlternatives } from './relations.ts';
import type { Doubt } from './repository.ts';
import type { PackageVersion, SiteCatalog } from './site-catalog.ts';
import { type Named, tellNames } from './told-apart.ts';

/** Relations of one kind. */
interface NamedRelations {
  readonly title: string;
  readonly list: readonly Relation[];
  /** How many there are beyond those. */
  readonly more: number;
}

const relationTitles: Readonly<Record<(typeof relationFields)[number], string>> = {
  depends: 'Depends on',
  preDepends: 'Needs before installing',
  recommends: 'Recommends',
  suggests: 'Suggests',
  enhances: 'Enhances',
  conflicts: 'Conflicts with',
  breaks: 'Breaks',
  replaces: 'Replaces',
  provides: 'Provides',
};

// What every jailbreak provides under these names, whichever repositories this index knows.
const broughtByAll: ReadonlySet<string> = new Set([
  'mobilesubstrate',
  'ellekit',
  'com.ex.substitute',
  'preferenceloader',
]);

/** A repository without which a package cannot be installed, and the packages needed from it. */
interface NeededRepository {
  readonly slug: string;
  readonly name: string;
  readonly packages: readonly NeededPackage[];
  /** Why they may not install from there. */
  readonly doubt: Doubt | undefined;
}

interface NeededPackage {
  readonly id: string;
  readonly name: string;
  /** The architectures for which it is there, if it is not for all those that need it. */
  readonly only: readonly string[] | undefined;
}

type Group = ReturnType<typeof parseRelations>[number];

/** What a package needs and what it says about others. */
export interface Needs {
  /** Whether it needs anything to be installed: a package, or a property of the device. */
  readonly isNeedy: boolean;
  /** Its relations to other packages, each with the page that describes the other. */
  readonly relations: readonly NamedRelations[];
  /** What it requires of the device, as written: "firmware (>= 14.0)". */
  readonly demands: readonly string[];
  readonly needed: readonly NeededRepository[];
  /** All repositories that are to be added then, its own first; none where its own will do. */
  readonly toAdd: readonly Named[];
}

const isWhollyOfDevice = (group: Group): boolean => group.every(({ name }) => isOfDevice(name));

// Alternatives that the device may satisfy are kept; without them the others would seem to be required.
const findTargets = (catalog: SiteCatalog, id: string, groups: readonly Group[]): Relation[] =>
  groups
    .filter((group) => !isWhollyOfDevice(group))
    .map((group) =>
      group.map((one) => {
        const target = isOfDevice(one.name) ? undefined : catalog.resolve(one.name);
        return target === undefined || target === id ? one : { ...one, target };
      }),
    );

/** Whether a relation with this restriction only accepts some versions. */
const isToVersions = (restriction: string): boolean => restriction.startsWith('(');

const architecturesIn = (slug: string, { builtFor, architectures }: PackageSummary): readonly string[] =>
  builtFor.get(slug) ?? architectures;

/** The value of `NeededPackage.only` for architectures that need a package with these. */
const onlyOf = (needing: readonly string[], known: readonly string[]): NeededPackage['only'] =>
  known.includes('all') || needing.every((one) => known.includes(one)) ? undefined : known;

// Nobody adds more, and what strangers write leads no further: so many packages, and so many relations of them all. Each
// build finds this out for each package.
const mostFollowed = 20;
const mostRead = 400;

/**
 * The repositories that a manager must know besides the package's own, because something is there that it depends on,
 * or that is needed by what it depends on. This says nothing about what its own repository or a bootstrap has or
 * provides, nor about what this index does not have: a device may have it all the same.
 */
export const findRepositories = (catalog: SiteCatalog, id: string): NeededRepository[] => {
  const summary = catalog.packages.get(id);
  if (summary === undefined || !catalog.mayNeedOthers(id)) return [];
  const own = summary.repository.slug;
  // What is for all of them is for those that its repository serves.
  const needing = architecturesIn(own, summary)
    .flatMap((one) => (one === 'all' ? catalog.architecturesIn(own) : [one]))
    .filter((one) => one !== 'all');
  const needed = new Map<string, Map<string, NeededPackage>>();
  const isOwn = (slug: string): boolean => slug === own;
  const isNeeded = (slug: string): boolean => needed.has(slug);
  const followed = new Set([id]);
  let read = 0;
  // What is added on the way is also followed.
  for (const one of followed) {
    if (read >= mostRead) break;
    const groups = catalog.requiredBy(one);
    read += groups.length;
    for (const group of groups) {
      if (group.some(({ name }) => isOfDevice(name) || broughtByAll.has(name))) continue;
      const targets = group.map(({ name }) => catalog.find(name));
      // If this index does not have an alternative, the device may.
      if (targets.includes(undefined)) continue;
      const findNear = (isOne: (slug: string) => boolean) =>
        targets[group.findIndex(({ name, restriction }) => catalog.isNear(isOne, name, isToVersions(restriction)))];
      const here = findNear(isOwn);
      const target = here ?? findNear(isNeeded) ?? targets[0];
      if (target === undefined) continue;
      const best = target.repository.slug;
      const from = target.repositories.find(isNeeded) ?? best;
      const isAway = here === undefined && !isOwn(from) && !catalog.isBootstrap(from);
      // Of what is needed by what it depends on, only that is named for which a repository has to be added.
      if (isAway && (one === id || !isNeeded(from))) {
        const only = onlyOf(needing, architecturesIn(from, target));
        const packages = needed.get(from) ?? new Map<string, NeededPackage>();
        packages.set(target.id, { id: target.id, name: target.name, only });
        needed.set(from, packages);
      }
      // What it needs in another repository is not known here.
      const isKnown = isOwn(best) || isNeeded(best);
      if (isKnown && catalog.mayNeedOthers(target.id) && followed.size < mostFollowed) followed.add(target.id);
    }
  }
  return [...needed].map(([slug, packages]) => {
    const { name = slug, doubt } = catalog.repository(slug) ?? {};
    return { slug, name, packages: [...packages.values()], doubt };
  });
};

/** Reads each relation field of a package once. */
export const computeNeeds = (catalog: SiteCatalog, id: string, { details, repository }: PackageVersion): Needs => {
  const relations: NamedRelations[] = [];
  const required: Group[] = [];
  for (const field of relationFields) {
    if (details[field] === undefined) continue;
    const groups = parseRelations(details[field]);
    const more = countUnread(details[field]);
    const list = findTargets(catalog, id, groups);
    if (list.length > 0) relations.push({ title: relationTitles[field], list, more });
    if (field === 'depends' || field === 'preDepends') required.push(...groups);
  }
  const found = findRepositories(catalog, id);
  const names = tellNames([repository, ...found]);
  return {
    isNeedy: required.length > 0,
    relations,
    demands: [...new Set(required.filter(isWhollyOfDevice).map(writeAlternatives))],
    needed: found.map((one) => ({ ...one, name: names.get(one.slug) ?? one.name })),
    toAdd: found.length === 0 ? [] : [...names].map(([slug, name]) => ({ slug, name })),
  };
};
