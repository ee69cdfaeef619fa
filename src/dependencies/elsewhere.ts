import type { Relation } from '../apt/relations.ts';
import { compareVersions } from '../apt/version.ts';
import type { NewestRecord } from '../catalog/dependency-reading.ts';
import { compareText } from '../catalog/reading.ts';
import type { Candidates, Offers } from './candidates.ts';
import { hasVersion, providesVersion } from './matching.ts';
import type { Resolution } from './resolution.ts';
import type { Steps, Work } from './work.ts';

/** Whether apt would choose this version if its repository were configured, too. */
const wouldBeCandidate = (candidates: Candidates, one: NewestRecord): boolean => {
  const now = candidates.of(one.name);
  return now === undefined || compareVersions(one.version, now.version) > 0;
};

/** What would satisfy a relation from a repository that is not configured: the newest in the best ranked one. */
function* findFor(
  relation: Relation,
  offers: Offers,
  candidates: Candidates,
  work: Work,
  isTaken: (one: NewestRecord) => boolean,
): Steps<NewestRecord | undefined> {
  if (!relation.readable) return undefined;
  const order = (a: NewestRecord, b: NewestRecord): number =>
    offers.repositoryOf(a).ranking - offers.repositoryOf(b).ranking ||
    compareVersions(b.version, a.version) ||
    offers.compareRepositories(a, b) ||
    compareText(a.name, b.name);
  const best = (found: readonly NewestRecord[]): NewestRecord | undefined => [...found].sort(order).find(isTaken);
  const fits = (one: NewestRecord) => offers.fits(relation, one) && wouldBeCandidate(candidates, one);
  const named: NewestRecord[] = [];
  for (const one of offers.newest(relation.name)) {
    if (work.spend()) yield;
    if (!candidates.has(one) && hasVersion(relation, one.version) && fits(one)) named.push(one);
  }
  const bestNamed = best(named);
  if (bestNamed !== undefined) return bestNamed;
  const others = offers.repositories.filter((repository) => !candidates.repositories.includes(repository));
  const providing: NewestRecord[] = [];
  for (const one of offers.providing(relation.name, others)) {
    if (work.spend()) yield;
    if (providesVersion(relation, one.provided) && fits(one)) providing.push(one);
  }
  return best(providing);
}

/**
 * The first unsatisfied need that another repository can satisfy. One that is not safe to add is only considered if no
 * other satisfies anything.
 */
export function* findElsewhere(
  { unmet }: Resolution,
  offers: Offers,
  candidates: Candidates,
  work: Work,
): Steps<NewestRecord | undefined> {
  let isAnyUnsafe = false;
  const isSafe = (one: NewestRecord): boolean => {
    const safe = offers.isSafe(offers.repositoryOf(one));
    isAnyUnsafe ||= !safe;
    return safe;
  };
  for (const isTaken of [isSafe, () => true]) {
    for (const { need } of unmet) {
      for (const relation of need.alternatives) {
        const found = yield* findFor(relation, offers, candidates, work, isTaken);
        if (found !== undefined) return found;
      }
    }
    if (!isAnyUnsafe) return undefined;
  }
  return undefined;
}
