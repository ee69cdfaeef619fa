import { defineConfig } from 'vitest/config';
import { findTiers } from './test/support/tiers.ts';

const { unit, system } = findTiers();

export default defineConfig({
  test: {
    globalSetup: ['test/support/run-folder.ts'],
    setupFiles: ['test/support/loopback-only.ts'],
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      { test: { name: 'unit', include: unit, isolate: false, testTimeout: 60_000, sequence: { groupOrder: 0 } } },
      {
        test: {
          name: 'system',
          include: system,
          globalSetup: ['test/support/page-bundle.ts', 'test/support/shared-postgres.ts'],
          // Workers beside each other, and beside the processes that tests start: what takes seconds alone may take a
          // minute then.
          testTimeout: 90_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
