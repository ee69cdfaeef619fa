import { defineConfig } from 'vitest/config';
import { findTiers } from './test/support/tiers.ts';

const { unit, system } = findTiers();

export default defineConfig({
  test: {
    globalSetup: ['test/support/run-folder.ts'],
    setupFiles: ['test/support/loopback-only.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Beside the processes that tests start, and whatever else the machine does: what takes seconds alone may take a minute.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      // Files share the process that they run in, which saves loading everything for each: a third of the time.
      { test: { name: 'unit', include: unit, isolate: false, sequence: { groupOrder: 0 } } },
      {
        test: {
          name: 'system',
          include: system,
          globalSetup: ['test/support/page-bundle.ts', 'test/support/shared-postgres.ts'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
