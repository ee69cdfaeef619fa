import { expect, it } from 'vitest';
import { endProcesses, runNode } from './processes.ts';

it('a benchmark that is stopped leaves no process that it measures, which would fill its folder again', async () => {
  const run = runNode(['-e', 'setInterval(() => {}, 1000)']);
  const ended = run.catch((error: unknown) => String(error));
  await endProcesses();
  expect(await ended).toContain('ended with null');
  await endProcesses();
});
