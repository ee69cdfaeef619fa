import { formatRelation, type Relation } from '../apt/relations.ts';
import type { DependencyRepository } from '../catalog/dependency-reading.ts';
import { mapSlugs } from '../catalog/repository-slugs.ts';
import { closureLimits, type DependencyQuestion } from '../contract/dependency-records.ts';
import { Candidates, Offers, type Reading } from './candidates.ts';
import { Device } from './device.ts';
import { findElsewhere } from './elsewhere.ts';
import { type Avoided, type Resolution, Resolver, type Unmet } from './resolution.ts';
import { type Steps, TooLarge, Work } from './work.ts';

/** What installing a package brings, and the repositories with which that was computed. */
export interface Closure {
  readonly question: DependencyQuestion;
  readonly resolution: Resolution;
  readonly offers: Offers;
  readonly candidates: Candidates;
  readonly had: readonly DependencyRepository[];
  readonly unknown: readonly string[];
  readonly added: readonly DependencyRepository[];
}

const nothing = { operator: null, version: null, qualifier: null, readable: true } as const;

const usedOf = ({ chosen }: Resolution, offers: Offers): ReadonlySet<string> =>
  new Set(chosen.map(({ record }) => offers.repositoryOf(record).slug));

/** The repositories of a question, and the slugs that are none. */
const readHad = ({ repositories }: Reading, asked: readonly string[]) => {
  const bySlug = mapSlugs(repositories);
  const found = asked.map((slug) => bySlug.get(slug));
  return {
    had: repositories.filter((one) => found.includes(one)),
    unknown: [...new Set(asked.filter((_, place) => found[place] === undefined))].sort(),
  };
};

const keyOf = ({ by, need }: Unmet): string =>
  [by?.record ?? '', need.field ?? '', ...need.alternatives.map(formatRelation)].join('\n');

/** The same resolution, with the other's reasons for refusing candidates that are not at hand here. */
const withRefusals = (resolution: Resolution, other: Resolution): Resolution => {
  const known = new Map(other.unmet.map((one) => [keyOf(one), one.refusals]));
  const unmet = resolution.unmet.map((one) => ({
    ...one,
    refusals: new Map([...(known.get(keyOf(one)) ?? []), ...one.refusals]),
  }));
  return { ...resolution, unmet };
};

/** How often a chosen package is avoided because it kept out something that nothing else can replace. */
const mostAvoided = 8;

/**
 * Resolves. If something cannot be satisfied because of an earlier choice, resolves once more without that choice, and
 * keeps the better result. apt would remove such a package again and look for a replacement.
 */
function* resolveAround(resolve: (avoided: Avoided) => Steps<Resolution>): Steps<Resolution> {
  let avoided: Avoided = new Map();
  let best = yield* resolve(avoided);
  const tried = new Set<number>();
  while (!best.isTooLarge && tried.size < mostAvoided) {
    const conflict = best.unmet
      .flatMap(({ refusals }) => [...refusals.values()])
      .find((one) => one.reason === 'conflict' && one.with !== null && !tried.has(one.with.record));
    if (conflict?.reason !== 'conflict' || conflict.with === null) return best;
    tried.add(conflict.with.record);
    const without: Avoided = new Map(avoided).set(conflict.with.record, conflict.candidate);
    const other = yield* resolve(without);
    if (other.isTooLarge || other.unmet.length >= best.unmet.length) continue;
    best = other;
    avoided = without;
  }
  return best;
}

/**
 * Computes what installing a package brings if certain repositories are configured. If only another repository can
 * satisfy something, that one is added and everything is resolved again, because apt would also choose again. So the
 * answer is what apt does once all necessary repositories are added.
 *
 * A generator, so that the caller can do other work between its steps. It reads no more than `closureLimits` allows,
 * whatever strangers wrote.
 */
export function* computeClosure(reading: Reading, question: DependencyQuestion): Steps<Closure> {
  const work = new Work();
  const { had, unknown } = readHad(reading, question.repositories);
  const offers = new Offers(reading, question, had, work);
  const device = new Device(question.firmware);
  const asked: Relation = { name: question.packageId, ...nothing };
  const slugsHad = new Set(had.map(({ slug }) => slug));

  function* resolveWith(slugs: ReadonlySet<string>): Steps<[Resolution, Candidates]> {
    const candidates = new Candidates(offers, slugs, work);
    const resolve = (avoided: Avoided) => new Resolver({ offers, candidates, device, work, avoided }).resolve(asked);
    return [yield* resolveAround(resolve), candidates];
  }

  const added = new Set<string>();
  let [resolution, candidates] = yield* resolveWith(slugsHad);
  try {
    while (added.size < closureLimits.repositories && !resolution.isTooLarge) {
      const found = yield* findElsewhere(resolution, offers, candidates, work);
      if (found === undefined) break;
      added.add(offers.repositoryOf(found).slug);
      [resolution, candidates] = yield* resolveWith(slugsHad.union(added));
    }
    // A repository may have been added for something that is not chosen in the end.
    const used = usedOf(resolution, offers);
    if (!resolution.isTooLarge && !added.isSubsetOf(used)) {
      const needed = slugsHad.union(added.intersection(used));
      const [without, fewer] = yield* resolveWith(needed);
      if (without.unmet.length <= resolution.unmet.length)
        [resolution, candidates] = [withRefusals(without, resolution), fewer];
    }
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    resolution = { ...resolution, isTooLarge: true };
  }
  const used = usedOf(resolution, offers);
  return {
    question,
    resolution,
    offers,
    candidates,
    had,
    unknown,
    added: offers.repositories.filter(({ slug }) => used.has(slug) && !slugsHad.has(slug)),
  };
}
