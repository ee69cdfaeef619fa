import { compareText } from '../catalog/reading.ts';
import { joinWords, nameTerms } from '../catalog/search-text.ts';
import { stateOf } from '../contract/package-states.ts';
import { type BeginningList, beginningLists, type FirstRows } from '../results/beginning-lists.ts';
import type { PackageSummary } from './package-summary.ts';
import { isStale, isUnsafe } from './repository.ts';
import { composeCard } from './row-card.ts';

/** How closely a package matches two letters that begin its name or a word of it; smaller is closer. */
interface Closeness {
  /** 1 if the name begins with them, 2 if a word in it does. */
  readonly kind: number;
  /** 1 for a pre-release, or a package whose repository does not answer or is unsafe. */
  readonly isOdd: number;
  readonly length: number;
}

/** How many words of a name count. No well-known name has more. */
const mostWords = 12;

interface Candidate {
  readonly summary: PackageSummary;
  readonly closeness: Closeness;
}

const compare = (a: Candidate, b: Candidate): number =>
  a.closeness.kind - b.closeness.kind ||
  a.closeness.isOdd - b.closeness.isOdd ||
  a.closeness.length - b.closeness.length ||
  compareText(a.summary.name, b.summary.name) ||
  compareText(a.summary.id, b.summary.id);

/** Inserts a candidate into the sorted list of the best, if it is one of them. */
const addTo = (best: Candidate[], candidate: Candidate): void => {
  const last = best[beginningLists.most - 1];
  if (last !== undefined && compare(candidate, last) >= 0) return;
  const place = best.findIndex((other) => compare(candidate, other) < 0);
  best.splice(place < 0 ? best.length : place, 0, candidate);
  if (last !== undefined) best.pop();
};

/** The lists of suggestions, by their two letters. */
export const composeBeginnings = (
  packages: Iterable<PackageSummary>,
  hasDevices: boolean,
): Map<string, BeginningList> => {
  const best = new Map<string, Candidate[]>();
  for (const summary of packages) {
    const joined = joinWords(summary.name);
    const whole = beginningLists.of(joined);
    const { repository, version } = summary;
    const isOdd = stateOf(version, isStale(repository) || isUnsafe(repository)) === 'current' ? 0 : 1;
    const { length } = joined;
    const add = (beginning: string, kind: number): void => {
      const known = best.get(beginning) ?? [];
      best.set(beginning, known);
      addTo(known, { summary, closeness: { kind, isOdd, length } });
    };
    if (whole !== undefined) add(whole, 1);
    const others = new Set([...nameTerms(summary.name).words].slice(0, mostWords).map(beginningLists.of));
    for (const beginning of others) {
      if (beginning !== undefined && beginning !== whole) add(beginning, 2);
    }
  }
  return new Map(
    [...best].map(([beginning, candidates]) => [
      beginning,
      candidates.map(({ summary }) => composeCard(summary, hasDevices)),
    ]),
  );
};

/** What is shown of these lists, by the first of their letters: of the longest, as far as there is room. */
export const composeFirstRows = (lists: ReadonlyMap<string, BeginningList>): Map<string, FirstRows> => {
  const firsts = new Map<string, { rows: Record<string, BeginningList>; room: number }>();
  for (const [beginning, list] of [...lists].sort(([, a], [, b]) => b.length - a.length)) {
    const [letter = '', second = ''] = beginning;
    const first = firsts.get(letter) ?? { rows: Object.create(null), room: beginningLists.mostFirst };
    firsts.set(letter, first);
    const shown = list.slice(0, beginningLists.shown);
    if (shown.length > first.room) continue;
    first.rows[second] = shown;
    first.room -= shown.length;
  }
  return new Map([...firsts].map(([letter, { rows }]) => [letter, rows]));
};
