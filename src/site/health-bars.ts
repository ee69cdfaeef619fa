import { type HistoryLetter, historyLetters, shownBuilds } from '../contract/status.ts';
import { isTroubled } from './repository.ts';

/** The result of one build for a repository, or as a whole. */
type BarState = 'good' | 'stale' | 'failed' | 'none';

/** Consecutive builds with the same result: the first (0 is the oldest that is shown), and how many. */
export interface BarRun {
  readonly state: BarState;
  readonly start: number;
  readonly length: number;
}

/** A row of bars, one for each build, and the same in words. */
export interface HealthBars {
  readonly runs: readonly BarRun[];
  readonly text: string;
}

const stateOf: Readonly<Record<HistoryLetter, BarState>> = {
  [historyLetters.fresh]: 'good',
  [historyLetters.unchanged]: 'good',
  [historyLetters.stale]: 'stale',
  [historyLetters.failed]: 'failed',
  [historyLetters.unvisited]: 'none',
};

const isTrouble = (state: BarState): boolean => isTroubled({ outcome: state });

/** The newest build is at the right end. Builds that do not exist yet have no run. */
const runsOf = (states: readonly BarState[]): BarRun[] => {
  const runs: BarRun[] = [];
  const offset = shownBuilds - states.length;
  states.forEach((state, index) => {
    const last = runs.at(-1);
    if (last?.state === state) runs[runs.length - 1] = { ...last, length: last.length + 1 };
    else runs.push({ state, start: offset + index, length: 1 });
  });
  return runs;
};

const sentenceOf = (states: readonly BarState[]): string => {
  const visits = states.filter((state) => state !== 'none');
  const troubles = visits.filter(isTrouble).length;
  const countOf = ({ length }: readonly BarState[]) => (length === 1 ? 'build' : `${length} builds`);
  if (visits.length === 0) return `Not visited in the last ${countOf(states)}.`;
  // Of a build that did not visit it nothing is known, neither good nor bad.
  const last = `${countOf(visits)}${visits.length < states.length ? ' that visited it' : ''}`;
  if (troubles === 0) return `In order in the last ${last}.`;
  if (visits.length === 1) return `In trouble in the last ${last}.`;
  const still = isTrouble(visits.at(-1) ?? 'none') ? ', and still' : '';
  return `In trouble in ${troubles} of the last ${last}${still}.`;
};

const statesOf = (history: string): BarState[] =>
  [...history].slice(-shownBuilds).map((letter) => stateOf[letter as HistoryLetter] ?? 'none');

/** The bars for a repository's history; see `historyLetters`. */
export const computeBars = (history: string): HealthBars => {
  const states = statesOf(history);
  return { runs: runsOf(states), text: sentenceOf(states) };
};

// A page with the number of builds would change after each build, so this has no bars.
const untroubled: HealthBars = { runs: [], text: 'No trouble in the last builds.' };

/**
 * The bars of a repository on its own page. Without trouble there are none until all builds that are shown went well, so
 * that a build without trouble renders no page of a repository again.
 */
export const computeLastingBars = (history: string): HealthBars => {
  const states = statesOf(history);
  const isLasting = states.length === shownBuilds && states.every((state) => state === 'good');
  return isLasting || states.some(isTrouble) ? computeBars(history) : untroubled;
};

/** The result of a build as a whole. */
interface ShownEnding {
  readonly ended: 'published' | 'nothing' | 'failed';
  readonly repositories: { readonly stale: number; readonly failed: number };
}

const buildWords = {
  good: 'with every repository in order',
  stale: 'with some in trouble',
  failed: 'that published nothing',
} as const;

/** The bars of all builds: failed ones, those with a repository in trouble, and the others. */
export const computeBuildBars = (builds: readonly ShownEnding[]): HealthBars => {
  const states = builds.slice(-shownBuilds).map(({ ended, repositories }): BarState => {
    if (ended !== 'published') return 'failed';
    return repositories.stale + repositories.failed > 0 ? 'stale' : 'good';
  });
  const countOf = (wanted: BarState) => states.filter((state) => state === wanted).length;
  const shown = (['good', 'stale', 'failed'] as const).filter((state) => countOf(state) > 0);
  const isOne = shown.length === 1 && shown[0] !== 'failed';
  const parts = shown.map((state) => `${isOne ? 'all' : countOf(state)} ${buildWords[state]}`);
  const [only] = states.length === 1 ? states : [];
  const text =
    only === undefined || only === 'none'
      ? `The last ${states.length} builds: ${parts.join(', ')}.`
      : `One build so far, ${buildWords[only]}.`;
  return { runs: runsOf(states), text };
};
