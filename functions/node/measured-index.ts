import type { SearchIndex } from '../dependencies.ts';
import type { Meter } from './meter.ts';

/** The same index, of which a meter notes how long each kind of question took, and how many failed. */
export const measureIndex = (index: SearchIndex, meter: Meter): SearchIndex => {
  const measure =
    <Question extends unknown[], Found>(kind: keyof SearchIndex, ask: (...question: Question) => Promise<Found>) =>
    async (...question: Question): Promise<Found> => {
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
  return {
    searchPackages: measure('searchPackages', (...question) => index.searchPackages(...question)),
    searchRepositories: measure('searchRepositories', (...question) => index.searchRepositories(...question)),
    repositoryPackages: measure('repositoryPackages', (...question) => index.repositoryPackages(...question)),
    latest: measure('latest', (...question) => index.latest(...question)),
    known: measure('known', (...question) => index.known(...question)),
    knows: measure('knows', (...question) => index.knows(...question)),
    probe: measure('probe', () => index.probe()),
  };
};
