import { expect, it } from 'vitest';
import { limits } from '../../src/contract/limits.ts';
import { HostQueue } from '../../src/net/host-queue.ts';
import { takeTurn } from '../../src/net/turn.ts';

/** What has settled by now, of promises that nothing but turns settles. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

it('C6: no more are at one host than may be, the first to ask first, and other hosts wait for nobody', async () => {
  const queue = new HostQueue(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (key: string, name: string) =>
    void queue.acquire(key).then((end) => {
      begun.push(name);
      ends.set(name, end);
    });
  for (const name of ['1', '2', '3', '4']) ask('one', name);
  ask('other', 'a');
  await settled();
  expect(begun).toEqual(['1', '2', 'a']);
  ends.get('1')?.();
  await settled();
  expect(begun).toEqual(['1', '2', 'a', '3']);
  // Given back once more it makes room for nobody.
  ends.get('1')?.();
  await settled();
  expect(begun).toEqual(['1', '2', 'a', '3']);
  for (const name of ['2', '3']) ends.get(name)?.();
  await settled();
  expect(begun.at(-1)).toBe('4');
});

it('C6: who gives up leaves the turn to the next, also one that was never asked for in time', async () => {
  const queue = new HostQueue(1);
  const end = await queue.acquire('one');
  const impatient = new AbortController();
  const given = queue.acquire('one', impatient.signal);
  const next = queue.acquire('one');
  impatient.abort(new Error('enough'));
  await expect(given).rejects.toMatchObject({ code: 'aborted', cause: { message: 'enough' } });
  await expect(queue.acquire('other', AbortSignal.abort())).rejects.toMatchObject({ code: 'aborted' });
  end();
  (await next)();
  (await queue.acquire('one'))();
});

it('C2: a crawl that waits with one signal has one listener there, whom it tells all that wait', async () => {
  const queue = new HostQueue(1);
  const patience = new AbortController();
  const { signal } = patience;
  let listeners = 0;
  let most = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...parameters: Parameters<typeof add>) => {
    most = Math.max(most, ++listeners);
    add(...parameters);
  };
  signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
    listeners--;
    remove(...parameters);
  };
  const keys = ['one', 'other'];
  const held = await Promise.all(keys.map((key) => queue.acquire(key)));
  const ask = () => keys.map((key) => queue.acquire(key, signal));
  const served = [...ask(), ...ask()];
  for (const end of held) end();
  for (const turn of served) (await turn)();
  // Who has had a turn waits for it no more.
  expect([most, listeners]).toEqual([1, 0]);
  const again = await Promise.all(keys.map((key) => queue.acquire(key)));
  const given = [...ask(), ...ask(), ...ask()];
  expect([most, listeners]).toEqual([1, 1]);
  const patient = queue.acquire('one');
  patience.abort(new Error('enough'));
  const ends = await Promise.allSettled(given);
  expect(ends.map(({ status }) => status)).toEqual(given.map(() => 'rejected'));
  again[0]?.();
  (await patient)();
});

it('C6: http and https of a host are one host, and another port is another', async () => {
  const queue = new HostQueue(2);
  const take = (address: string) => takeTurn(queue, new URL(address), limits, limits.totalMs);
  const turns = await Promise.all(['http://a.example/', 'https://a.example/', 'http://a.example:8080/'].map(take));
  const begun: string[] = [];
  const third = take('https://a.example/x').then((turn) => {
    begun.push('third');
    return turn;
  });
  await settled();
  expect(begun).toEqual([]);
  turns[0]?.end();
  for (const turn of [...turns.slice(1), await third]) turn.end();
});
