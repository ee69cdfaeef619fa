import { expect, it, vi } from 'vitest';
import { PageBuilder } from '../../src/pipeline/site-step.ts';
import type * as bundle from '../../src/site/bundle.ts';
import { NoBundle } from '../../src/site/bundle.ts';
import { temporaryFolder } from '../support/folder.ts';

// As in an installation of an operator that lost its bundle: nothing here can make one.
vi.mock('../../src/site/bundle.ts', async (load) => {
  const original = await load<typeof bundle>();
  const assertBundle: typeof bundle.assertBundle = (folder) => original.assertBundle(folder, folder, false);
  return { ...original, assertBundle };
});

it('C12: a build with pages and nothing to make them of ends before it asks anybody for anything, or starts a process', () => {
  const countProcesses = () => process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap').length;
  const before = countProcesses();
  expect(() => new PageBuilder(temporaryFolder())).toThrow(NoBundle);
  expect(countProcesses()).toBe(before);
});
