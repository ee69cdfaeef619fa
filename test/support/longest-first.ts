import { hash } from 'node:crypto';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest beside others, by path below the tests' folder, roughly the longest first. The test runner
 * only knows this after a first run. Those that mostly wait (for limits, pauses, a soak) stand between those that keep a
 * processor busy, because several of them at once leave one idle.
 */
export const longest: readonly string[] = [
  'site/browser/page-kinds.test.ts',
  'publication/kill.test.ts',
  'site/build.test.ts',
  'scripts/soak.test.ts',
  'scripts/ends.test.ts',
  'hosts/walk.test.ts',
  'gateway/waiting.test.ts',
  'site/browser/searching.test.ts',
  'uploading/kill.test.ts',
  'publication/strangers.test.ts',
  'functions/replica.test.ts',
  'gateway/browser.test.ts',
  'site/browser/package-page.test.ts',
  'scripts/replica.test.ts',
  'functions/edge.test.ts',
  'gateway/races.test.ts',
  'scripts/serve.test.ts',
  'gateway/throttle.test.ts',
  'gateway/crash.test.ts',
  'fuzz/costs.test.ts',
];
const places = longest.map((name) => path.join(import.meta.dirname, '..', name));

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = places.indexOf(path.normalize(moduleId));
  return place === -1 ? places.length : place;
};

/**
 * Begins with the tests that take longest, so that no processor is idle at the end of a run. The files of the unit
 * tier, which are many and short, come last and fill the gaps. If files are to be shuffled, the order is random.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence;
    if (shuffle) {
      const drawn = (file: TestSpecification): string => hash('sha256', `${seed} ${file.moduleId}`);
      return [...files].sort((one, other) => (drawn(one) < drawn(other) ? -1 : 1));
    }
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => placeOf(one) - placeOf(other));
  }
}
