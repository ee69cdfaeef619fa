import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { PageBuilder } from '../../src/pipeline/site-step.ts';
import { patience } from '../support/patience.ts';

const state = mkdtempSync(path.join(tmpdir(), 'debdex-page-builder-'));
afterAll(() => rmSync(state, { recursive: true, force: true }));

const countProcesses = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length;

it('has its process begin before it is asked for, hands it over once, and ends it where nobody asked', async () => {
  const before = countProcesses();
  const asked = new PageBuilder(state);
  expect(countProcesses()).toBe(before + 1);
  const own = asked.take();
  // A build that finds its catalog damaged begins again, with a process of its own.
  expect([own === undefined, asked.take()]).toEqual([false, undefined]);
  asked.end();
  const unasked = new PageBuilder(state);
  expect(countProcesses()).toBe(before + 2);
  unasked.end();
  // At most: one of an earlier file may end meanwhile.
  await expect.poll(countProcesses, patience).toBeLessThanOrEqual(before + 1);
  own?.end();
  await expect.poll(countProcesses, patience).toBeLessThanOrEqual(before);
});
