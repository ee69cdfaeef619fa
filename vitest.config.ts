import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { patience } from './test/support/patience.ts';
import { findTiers } from './test/support/tiers.ts';

const { unit, system, apart } = findTiers();

// Node loads what is tested as it does in service, its types stripped: the runner's own loader makes every use of an
// import a property of an object, which costs time in what is run often. Only what replaces modules needs that loader.
const loadedByNode = { viteModuleRunner: false, nodeLoader: false };

// Tests make much that is soon garbage, in several processes at once: threads that look for it in parallel only wait for
// each other's processor, and a small heap is looked through again and again. It is a quarter of the time of tests that
// publish or crawl. What weighs a process runs apart, as Node is by itself.
const execArgv = [
  '--single-threaded-gc',
  '--min-semi-space-size=32',
  '--max-semi-space-size=32',
  '--initial-old-space-size=256',
  // Buffers count for what the heap may grow to; else every 64 MB of them has all of it looked through, however small it is.
  '--external-memory-accounted-in-global-limit',
];

export default defineConfig({
  test: {
    globalSetup: ['test/support/run-folder.ts', 'test/support/hung-files.ts'],
    setupFiles: ['test/support/running-file.ts', 'test/support/loopback-only.ts', 'test/support/compiled-code.ts'],
    pool: 'forks',
    // Two more than there are processors: half of the time of a test goes by waiting for a process, a browser or a limit.
    // With four more, a tenth more processor time was taken and none was saved.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // Beside the processes that tests start, and whatever else the machine does: what takes seconds alone may take minutes.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: patience },
    projects: [
      // Files share the process that they run in, which saves loading everything for each: a third of the time.
      { test: { name: 'unit', include: unit, isolate: false, execArgv, experimental: loadedByNode } },
      {
        test: {
          name: 'system',
          include: system,
          isolate: false,
          execArgv,
          experimental: loadedByNode,
          globalSetup: [
            'test/support/page-bundle.ts',
            'test/support/shared-postgres.ts',
            'test/support/shared-objects.ts',
          ],
        },
      },
      { test: { name: 'system-apart', include: apart, globalSetup: ['test/support/shared-postgres.ts'] } },
    ],
  },
});
