import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

// Node writes its compile cache at exit. A test process ends by a signal, so the cache is written after each file;
// later processes then start in half of the time.
afterAll(() => flushCompileCache());
