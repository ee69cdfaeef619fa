import { expect, it } from 'vitest';
import type { ChangeList, Generation } from '../../src/contract/generation.ts';
import { takeEarlierLists } from '../../src/following/mirror-plan.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { temporaryFolder } from '../support/folder.ts';

it('P2: of a publication that is taken whole, the change lists are asked for that it may keep, and no others', async () => {
  const output = new OutputFolder(temporaryFolder());
  const askedFor = async (last: number) => {
    const asked: number[] = [];
    const readChanges = async (number: number) => {
      asked.push(number);
      return number % 2 === 0 ? undefined : { list: { number } as ChangeList, bytes: 1 };
    };
    const taken = await takeEarlierLists({ number: last } as Generation, output, { readChanges });
    return { asked, taken: taken.size };
  };
  expect(await askedFor(1)).toEqual({ asked: [], taken: 0 });
  expect(await askedFor(4)).toEqual({ asked: [1, 2, 3], taken: 2 });
  const { asked } = await askedFor(250);
  expect([asked[0], asked.at(-1), asked.length]).toEqual([151, 249, 99]);
});
