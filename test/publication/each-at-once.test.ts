import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eachAtOnce } from '../../src/publication/each-at-once.ts';

/** Works on these, two at once, of which each ends as it is told. */
const begin = (items: readonly string[]) => {
  const begun: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  const work = (item: string) => {
    begun.push(item);
    return new Promise<void>((resolve, reject) => {
      ends.set(item, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
  };
  let told: string | undefined;
  const outcome = eachAtOnce(items, { concurrency: 2, count: items.length }, work).then(
    () => 'done',
    (error: Error) => error.message,
  );
  void outcome.then((words) => {
    told = words;
  });
  const end = async (item: string, failure?: Error) => {
    ends.get(item)?.(failure);
    await turn();
  };
  return { begun, end, told: () => told };
};

it('works on so many items at once, in their order, and is done with the last', async () => {
  const { begun, end, told } = begin(['a', 'b', 'c']);
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('c');
  expect(told()).toBeUndefined();
  await end('a');
  expect(told()).toBe('done');
});

it('C12: begins no other item where one failed, and tells of it when those that were begun have ended', async () => {
  const { begun, end, told } = begin(['a', 'b', 'c', 'd']);
  await end('a', new Error('the first'));
  expect(told()).toBeUndefined();
  await end('b');
  expect(told()).toBe('the first');
  expect(begun).toEqual(['a', 'b']);
});
