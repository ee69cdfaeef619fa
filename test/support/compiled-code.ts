import { flushCompileCache, type ResolveFnOutput, registerHooks } from 'node:module';
import { afterAll } from 'vitest';

// Node writes its compile cache at exit. A test process ends by a signal, so the cache is written after each file;
// later processes then start in half of the time.
afterAll(() => flushCompileCache());

// The runner gives a test file another address in each run, under which what was compiled of it is never found again.
// No process loads one twice, so its own address will do. This file is loaded anew for each of them.
const stable = Symbol.for('debdex.addresses of test files');
const inAnyRun = /(\.test\.ts)\?vitest=\d+$/;
// A command that runs again in one process has another address too, and all that it imports would be looked for anew,
// which takes a tenth of the time of a small build.
const ofRun = /\?run=\d+$/;
const found = new Map<string, ResolveFnOutput>();
if (!Reflect.has(globalThis, stable)) {
  Reflect.set(globalThis, stable, true);
  registerHooks({
    resolve: (specifier, context, resolveNext) => {
      const { parentURL = '' } = context;
      const importing = ofRun.test(parentURL) ? `${specifier} ${parentURL.replace(ofRun, '')}` : undefined;
      const known = importing === undefined ? undefined : found.get(importing);
      if (known !== undefined) return known;
      const resolved = resolveNext(specifier, context);
      if (importing !== undefined) found.set(importing, { ...resolved, shortCircuit: true });
      return { ...resolved, url: resolved.url.replace(inAnyRun, '$1') };
    },
  });
}
