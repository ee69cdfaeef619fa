import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Builds the corpus of real repositories that may lie beside the project, and holds every document of it against the
// contract. Apart from the tests, which need nothing but the project.
export default defineConfig({
  test: {
    include: ['test/corpus/**/*.test.ts'],
    globalSetup: ['test/support/hung-files.ts', 'test/support/page-bundle.ts'],
    setupFiles: ['test/support/running-file.ts', 'test/support/loopback-only.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Each file has its own origin and folders, and half of its time waits for a process.
    maxWorkers: availableParallelism(),
  },
});
