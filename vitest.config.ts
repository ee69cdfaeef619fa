import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/corpus/**'],
    globalSetup: ['test/support/page-bundle.ts'],
    setupFiles: ['test/support/loopback-only.ts'],
    // Two workers on two cores, beside the processes that tests start: what takes seconds alone may take a minute then.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Most of a test is waiting: for a socket, a browser, a process to die. One worker a core leaves none of them idle.
    maxWorkers: 2,
  },
});
