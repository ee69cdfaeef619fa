import { relationFields } from '../catalog/record-details.ts';
import { isOfDevice } from '../compatibility/device-packages.ts';
import type { PackageSummary } from './package-summary.ts';
import { countUnread, parseRelations, type Relation, withoutBlanks, writeAlternatives } from './relations.ts';
import { type Doubt, isUnsafe } from './repository.ts';
import type { PackageVersion, SiteCatalog } from './site-catalog.ts';
import { type Named, tellNames } from './told-apart.ts';

/** Relations of one kind. */
interface NamedRelations {
  readonly title: string;
  /** The architectures of the builds that have them; empty if all builds do. */
  readonly of: readonly string[];
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
  /** The architectures of the builds that need it; empty if all builds do. */
  readonly of: readonly string[];
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

/** What a package needs and what it says about others, by all of its builds in its best repository. */
export interface Needs {
  /** Whether any build needs anything to be installed: a package, or a property of the device. */
  readonly isNeedy: boolean;
  /** Its relations to other packages, each with the page that describes the other. */
  readonly relations: readonly NamedRelations[];
  /** What it requires of the device, as written: "firmware (>= 14.0)"; `of` as for its relations. */
  readonly demands: readonly { readonly of: readonly string[]; readonly written: readonly string[] }[];
  readonly needed: readonly NeededRepository[];
  /**
   * All repositories that are to be added then, its own first; none where its own will do, or where one of them is unsafe.
   */
  readonly toAdd: readonly Named[];
}

const isWhollyOfDevice = (group: Group): boolean => group.every(({ name }) => isOfDevice(name));

// Alternatives that the device may satisfy are kept; without them the others would seem to be required.
const relationsIn = (field = ''): { readonly groups: readonly Group[]; readonly more: number } => ({
  groups: parseRelations(field).filter((group) => !isWhollyOfDevice(group)),
  more: countUnread(field),
});

const requiring: ReadonlySet<string> = new Set<(typeof relationFields)[number]>(['depends', 'preDepends']);

const findTargets = (
  catalog: SiteCatalog,
  id: string,
  { groups, field }: { readonly groups: readonly Group[]; readonly field: string },
): Relation[] =>
  groups.map((group) =>
    group.map((one) => {
      if (isOfDevice(one.name)) return one;
      const target = catalog.find(one.name)?.id;
      if (target !== undefined) return target === id ? one : { ...one, target };
      return requiring.has(field) ? { ...one, from: broughtByAll.has(one.name) ? 'jailbreak' : 'nowhere' } : one;
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

/** What builds of a package require, and what these are for. */
interface Requirement {
  readonly architectures: readonly string[];
  readonly groups: readonly Group[];
}

const requirementsOf = (catalog: SiteCatalog, id: string, architectures: readonly string[]): Requirement[] => {
  const otherwise = catalog.relations.requiredOtherwise(id);
  const others = otherwise.map(({ architecture, groups }) => ({ architectures: [architecture], groups }));
  const best = architectures.filter((one) => otherwise.every(({ architecture }) => architecture !== one));
  return [{ architectures: best, groups: catalog.relations.requiredBy(id) }, ...others];
};

const isSafe = (one: PackageSummary | undefined): boolean => one !== undefined && !isUnsafe(one.repository);

/**
 * The repositories that a manager must know besides the package's own, because something is there that it depends on,
 * or that is needed by what it depends on; of alternatives, one that is safe to add. This says nothing about what its own
 * repository or a bootstrap has or provides, nor about what this index does not have: a device may have it all the same.
 */
export const findRepositories = (catalog: SiteCatalog, id: string): NeededRepository[] => {
  const summary = catalog.packages.get(id);
  if (summary === undefined || !catalog.mayNeedOthers(id)) return [];
  const architectures = architecturesIn(summary.repository.slug, summary);
  const all = new Map<string, { readonly of: string[]; readonly packages: Map<string, NeededPackage> }>();
  for (const one of requirementsOf(catalog, id, architectures)) {
    for (const [slug, packages] of findFor(catalog, summary, one)) {
      const known = all.get(slug) ?? { of: [], packages: new Map<string, NeededPackage>() };
      all.set(slug, known);
      known.of.push(...one.architectures);
      for (const each of packages.values()) {
        known.packages.set(each.id, { ...each, only: known.packages.get(each.id)?.only ?? each.only });
      }
    }
  }
  return [...all].map(([slug, { of, packages }]) => {
    const { name = slug, doubt } = catalog.repository(slug) ?? {};
    return { slug, name, of: of.length < architectures.length ? of : [], packages: [...packages.values()], doubt };
  });
};

/** The same for some of its builds: the packages needed from each repository, by slug and identifier. */
const findFor = (
  catalog: SiteCatalog,
  { id, repository }: PackageSummary,
  { architectures, groups: own }: Requirement,
): Map<string, Map<string, NeededPackage>> => {
  const { slug: home } = repository;
  // What is for all of them is for those that its repository serves.
  const needing = architectures
    .flatMap((one) => (one === 'all' ? catalog.architecturesIn(home) : [one]))
    .filter((one) => one !== 'all');
  const needed = new Map<string, Map<string, NeededPackage>>();
  const isOwn = (slug: string): boolean => slug === home;
  const isNeeded = (slug: string): boolean => needed.has(slug);
  const followed = new Set([id]);
  let read = 0;
  // What is added on the way is also followed.
  for (const one of followed) {
    if (read >= mostRead) break;
    const groups = one === id ? own : catalog.relations.requiredBy(one);
    read += groups.length;
    for (const group of groups) {
      if (group.some(({ name }) => isOfDevice(name) || broughtByAll.has(name))) continue;
      const targets = group.map(({ name }) => catalog.find(name));
      // If this index does not have an alternative, the device may.
      if (targets.includes(undefined)) continue;
      const findNear = (isOne: (slug: string) => boolean) =>
        targets[group.findIndex(({ name, restriction }) => catalog.isNear(isOne, name, isToVersions(restriction)))];
      const here = findNear(isOwn);
      const target = here ?? findNear(isNeeded) ?? targets.find(isSafe) ?? targets[0];
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
  return needed;
};

type Build = Pick<PackageVersion, 'record' | 'details'>;

/** What builds say, each once, with the architectures of those that say it; without any if all do. */
const sayings = <Said>(
  builds: readonly Build[],
  read: (one: Build) => Said,
): { readonly of: readonly string[]; readonly said: Said }[] => {
  // Most packages have one build, and comparing is most of this.
  if (builds.length === 1) return builds.map((one) => ({ of: [], said: read(one) }));
  const all = new Map<string, { readonly of: string[]; readonly said: Said }>();
  for (const one of builds) {
    const said = read(one);
    const key = withoutBlanks(JSON.stringify(said));
    const known = all.get(key) ?? { of: [], said };
    all.set(key, known);
    known.of.push(one.record.architecture);
  }
  return all.size === 1 ? [...all.values()].map(({ said }) => ({ of: [], said })) : [...all.values()];
};

const requiredIn = ({ details }: Build): Group[] =>
  [details.depends, details.preDepends].flatMap((field) => parseRelations(field));

/** Computes this from the newest builds of a package in its best repository, of which there is at least one. */
export const computeNeeds = (
  catalog: SiteCatalog,
  id: string,
  builds: readonly Pick<PackageVersion, 'record' | 'details' | 'repository'>[],
): Needs => {
  const relations: NamedRelations[] = relationFields.flatMap((field) =>
    sayings(builds, ({ details }) => relationsIn(details[field])).flatMap(({ of, said: { groups, more } }) => {
      const list = findTargets(catalog, id, { groups, field });
      return list.length > 0 ? [{ title: relationTitles[field], of, list, more }] : [];
    }),
  );
  const demanded = (one: Build) => [...new Set(requiredIn(one).filter(isWhollyOfDevice).map(writeAlternatives))];
  const demands = sayings(builds, demanded)
    .map(({ of, said }) => ({ of, written: said }))
    .filter(({ written }) => written.length > 0);
  const found = findRepositories(catalog, id);
  const all = [...builds.slice(0, 1).map(({ repository }) => repository), ...found];
  const names = tellNames(all);
  return {
    isNeedy: builds.some((one) => requiredIn(one).length > 0),
    relations,
    demands,
    needed: found.map((one) => ({ ...one, name: names.get(one.slug) ?? one.name })),
    toAdd: found.length === 0 || all.some(isUnsafe) ? [] : [...names].map(([slug, name]) => ({ slug, name })),
  };
};
