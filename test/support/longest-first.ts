import { hash } from 'node:crypto';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Those that take longest beside others, the longest first; the runner knows by itself only where it ran before.
const longest = [
  'scripts/soak.test.ts',
  'publication/kill.test.ts',
  'site/browser.test.ts',
  'site/build.test.ts',
  'gateway/browser.test.ts',
  'gateway/crash.test.ts',
  'gateway/waiting.test.ts',
  'scripts/ends.test.ts',
  'crawl/against-apt.test.ts',
  'publication/strangers.test.ts',
  'scripts/serve.test.ts',
  'fuzz/costs.test.ts',
].map((name) => path.join(import.meta.dirname, '..', name));

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.indexOf(path.normalize(moduleId));
  return place === -1 ? longest.length : place;
};

/**
 * Begins with the tests that take longest, so that no processor is idle at the end of a run; the files of the unit tier,
 * which are many and short, come last and fill what is left. Where files are to be shuffled, their order is chance.
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
