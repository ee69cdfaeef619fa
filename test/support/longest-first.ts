import { hash } from 'node:crypto';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// By path below the tests' folder. The test runner only knows after a first run how long a file takes, and never whether
// it works or waits meanwhile.

/** The files that take longest beside others, roughly the longest first. */
export const longest: readonly string[] = [
  'site/browser/page-kinds.test.ts',
  'publication/kill.test.ts',
  'site/build.test.ts',
  'scripts/soak.test.ts',
  'scripts/ends.test.ts',
  'functions/edge.test.ts',
  'site/browser/searching-by-function.test.ts',
  'functions/edge-gateway.test.ts',
  'site/browser/searching.test.ts',
  'site/browser/safari.test.ts',
  'site/bundle.test.ts',
  'hosts/walk.test.ts',
  'site/browser/package-page.test.ts',
  'scripts/replica.test.ts',
  'site/device.test.ts',
  'gateway/browser.test.ts',
  'gateway/races.test.ts',
  'gateway/throttle.test.ts',
  'gateway/crash.test.ts',
  'fuzz/costs.test.ts',
];

/** The files that mostly wait, for limits, pauses or others, the longest first. Several at once leave a processor idle. */
export const waiting: readonly string[] = [
  'gateway/waiting.test.ts',
  'publication/strangers.test.ts',
  'functions/shared-downloads.test.ts',
  'functions/replica.test.ts',
  'scripts/serve.test.ts',
  'functions/download-counters.test.ts',
  'scripts/build-flags.test.ts',
  'net/fetcher.test.ts',
  'functions/direct-answers.test.ts',
  'gateway/failing-store.test.ts',
  'gateway/behind-a-pooler.test.ts',
  'functions/abuse.test.ts',
  'following/refusing-replica.test.ts',
  'uploading/disk.test.ts',
  'crawl/many-repositories.test.ts',
  'functions/direct-questions.test.ts',
  'net/resolver.test.ts',
  'net/far-hosts.test.ts',
  'crawl/politeness.test.ts',
  'crawl/release-failures.test.ts',
  'site/own-process.test.ts',
  'functions/slow-clients.test.ts',
  'functions/health-log.test.ts',
];

/** After how many files that work one that waits begins: of four at once, one waits most of the time. */
const workingForEach = 3;

const placesOf = (names: readonly string[]): ReadonlyMap<string, number> =>
  new Map(names.map((name, place) => [path.join(import.meta.dirname, '..', name), place]));
const [placesOfLongest, placesOfWaiting] = [placesOf(longest), placesOf(waiting)];

const byPlace = (places: ReadonlyMap<string, number>) => (one: TestSpecification, other: TestSpecification) =>
  placeOf(places, one) - placeOf(places, other);
const placeOf = (places: ReadonlyMap<string, number>, { moduleId }: TestSpecification): number =>
  places.get(path.normalize(moduleId)) ?? places.size;

const isWaiting = (file: TestSpecification): boolean => placeOf(placesOfWaiting, file) < waiting.length;

/** The files of one project: those that work, longest first, and between them those that wait. */
const spread = (files: readonly TestSpecification[]): TestSpecification[] => {
  const waiters = files.filter(isWaiting).sort(byPlace(placesOfWaiting));
  const working = files.filter((file) => !isWaiting(file)).sort(byPlace(placesOfLongest));
  const mixed = working.flatMap((file, index) =>
    index % workingForEach === 0 ? [...waiters.splice(0, 1), file] : [file],
  );
  return [...mixed, ...waiters];
};

/**
 * Begins with the tests that take longest, so that no processor is idle at the end of a run, and puts those that wait
 * between them. The files of the unit tier, which are many and short, come last and fill the gaps. If files are to be
 * shuffled, the order is random.
 *
 * Projects are not mixed. The runner ends a process with all that it has loaded as soon as the next file is of another
 * project, so each file between those of another project costs two starts.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence;
    if (shuffle) {
      const drawn = (file: TestSpecification): string => hash('sha256', `${seed} ${file.moduleId}`);
      return [...files].sort((one, other) => (drawn(one) < drawn(other) ? -1 : 1));
    }
    const sorted = await super.sort(files);
    // Before any process is shared, these end none.
    const isFirst = (file: TestSpecification): boolean =>
      file.project.config.isolate && placeOf(placesOfLongest, file) < longest.length;
    const ofProjects = Object.values(Object.groupBy(sorted, ({ project }) => project.name));
    return [...sorted.filter(isFirst), ...ofProjects.flatMap((own = []) => spread(own.filter((one) => !isFirst(one))))];
  }
}
