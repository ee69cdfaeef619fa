import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

// Node keeps what it compiled when it exits. A process of the tests is ended by a signal, so it is told to do so after
// each file; those after it start in half of the time.
afterAll(() => flushCompileCache());
