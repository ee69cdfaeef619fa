import type { OlderIndex, SearchIndex } from '../dependencies.ts';
import type { Meter } from './meter.ts';

type Ask<Question extends unknown[], Found> = (...question: Question) => Promise<Found>;

const measureWith =
  (meter: Meter) =>
  <Question extends unknown[], Found>(kind: string, ask: Ask<Question, Found>): Ask<Question, Found> =>
  async (...question) => {
    const began = performance.now();
    try {
      return await ask(...question);
    } catch (error) {
      meter.questionsOf(kind).failed++;
      throw error;
    } finally {
      meter.questionsOf(kind).durations.add(performance.now() - began);
    }
  };

/** The same for questions of addresses from before /v2. */
export const measureOlder = (index: OlderIndex, meter: Meter): OlderIndex => {
  const measure = measureWith(meter);
  return {
    packages: measure('olderPackages', index.packages),
    latest: measure('olderLatest', index.latest),
    repositories: measure('olderRepositories', index.repositories),
  };
};

/** The same index, of which a meter notes how long each kind of question took, and how many failed. */
export const measureIndex = (index: SearchIndex, meter: Meter): SearchIndex => {
  const measure = measureWith(meter);
  return {
    searchPackages: measure('searchPackages', (...question) => index.searchPackages(...question)),
    searchRepositories: measure('searchRepositories', (...question) => index.searchRepositories(...question)),
    repositoryPackages: measure('repositoryPackages', (...question) => index.repositoryPackages(...question)),
    latest: measure('latest', (...question) => index.latest(...question)),
    known: measure('known', (...question) => index.known(...question)),
    knows: measure('knows', (...question) => index.knows(...question)),
    dependencies: measure('dependencies', (question) => index.dependencies(question)),
    probe: measure('probe', () => index.probe()),
  };
};
