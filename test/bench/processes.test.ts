import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { endProcesses, runNode } from './processes.ts';
import { Workshop } from './workshop.ts';

it('a benchmark that is stopped leaves no process that it measures, which would fill its folder again', async () => {
  const run = runNode(['-e', 'setInterval(() => {}, 1000)']);
  const ended = run.catch((error: unknown) => String(error));
  await endProcesses();
  expect(await ended).toContain('ended with null');
  await endProcesses();
});

it('what a benchmark started is stopped before its folder goes, also where a part fails in the midst of that', async () => {
  const workshop = new Workshop(temporaryFolder());
  const there: boolean[] = [];
  for (let one = 0; one < 2; one++) {
    workshop.atEnd(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      there.push(existsSync(workshop.folder));
    });
  }
  await Promise.all([workshop.close(), workshop.close()]);
  expect(there).toEqual([true, true]);
  expect(existsSync(workshop.folder)).toBe(false);
});
