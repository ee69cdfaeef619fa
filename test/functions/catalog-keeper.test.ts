import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { generationPath, generationSchema } from '../../src/contract/generation.ts';
import { CatalogPair, type PublishedState, publishFour, withList } from '../support/catalog-pair.ts';
import { patience } from '../support/patience.ts';

/** Until when who reads pauses, wherever they may. */
const pause = vi.hoisted((): { until: Promise<void> | undefined } => ({ until: undefined }));
vi.mock('../../src/search/pauses.ts', () => ({ createPauses: () => () => pause.until }));

// Made once, by whichever test comes first.
let four: Promise<readonly PublishedState[]> | undefined;

const openPair = async () => {
  four ??= publishFour();
  const states = await four;
  const pair = new CatalogPair(states);
  vi.spyOn(Date, 'now').mockImplementation(() => pair.now);
  const publish = async (number: 1 | 2 | 3 | 4) => {
    pair.published = states[number - 1] as PublishedState;
    await pair.rest();
  };
  return { pair, publish, texts: states.map(({ text }) => text) };
};

const aside = "INSERT OR REPLACE INTO remembered VALUES ('elsewhere', 'true')";

/** The same with a list of portions that says more rows than there are. */
const wrong = (state: PublishedState | undefined) =>
  withList(state as PublishedState, (list) => ({ ...list, rows: { ...list.rows, record: 2 } }));

const told: string[] = [];
beforeEach(() => {
  told.length = 0;
  vi.spyOn(console, 'log').mockImplementation((line: string) => void told.push(line));
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => void vi.restoreAllMocks());

describe('the two objects that hold a catalog', () => {
  it('E2: answer in turn, one at a time, and go on from an output that was put back', async () => {
    const { pair, publish, texts } = await openPair();
    const [first, second, third, fourth] = texts;
    await publish(1);
    expect(await pair.answers()).toEqual([first, 421]);
    await publish(2);
    expect(await pair.answers()).toEqual([421, second]);
    await publish(3);
    expect(await pair.answers()).toEqual([third, 421]);
    await publish(4);
    expect(await pair.answers()).toEqual([421, fourth]);
    expect(told.filter((line) => line.includes('"trouble"'))).toEqual([]);
  });

  it('E2: never leave answering to each other, however what they tell each other is late or lost, and end with what is newest', async () => {
    const at = fc.constantFrom(0 as const, 1 as const);
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('wake' as const), at }) },
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('arrive' as const), place: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), place: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('publish' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), at }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const) }) },
    );
    const steps = fc.array(step, { minLength: 10, maxLength: 120, size: 'max' });
    const statement = fc.constantFrom(undefined, aside, "DELETE FROM remembered WHERE name = 'elsewhere'");
    await fc.assert(
      fc.asyncProperty(steps, fc.tuple(statement, statement), async (steps, restored) => {
        told.length = 0;
        const { pair, texts } = await openPair();
        // Nothing is there to be late yet.
        await pair.rest(3);
        expect(await pair.ask()).toBe(texts[0]);
        let published: 1 | 2 | 3 | 4 = 1;
        for (const one of steps) {
          if (one.kind === 'wake') pair.wake(one.at);
          else if (one.kind === 'arrive') pair.arrive(one.place);
          else if (one.kind === 'lose') pair.arrive(one.place, true);
          else if (one.kind === 'restart') pair.restart(one.at);
          else if (one.kind === 'publish' && published < 4) pair.published = pair.states[published++] ?? pair.published;
          await pair.settle();
          expect(texts).toContain(await pair.ask());
        }
        await pair.rest();
        expect(await pair.ask()).toBe(texts[published - 1]);
        expect((await pair.answers()).filter((answer) => answer !== 421)).toEqual([texts[published - 1]]);
        expect(told.filter((line) => line.includes('Neither'))).toEqual([]);
        // Whichever stands aside by what was put back, or both, or none.
        for (const [place, one] of restored.entries()) {
          if (one !== undefined) pair.alter(place === 0 ? 0 : 1, one);
        }
        await pair.rest();
        expect(await pair.ask()).toBe(texts[published - 1]);
      }),
      { numRuns: 20 },
    );
  });

  it('P2: say of what they have just taken that the publication has nothing newer', async () => {
    const { pair } = await openPair();
    // Until all is taken, and not until the next time that it asks.
    const ask = async () => (await pair.answers('v2/'))[0];
    let landing = await ask();
    for (; landing === 503; landing = await ask()) await pair.rest(0.5);
    expect(JSON.parse(String(landing)).data.replica).toMatchObject({ generation: 1, confirmed: expect.any(String) });
  });

  /** Has the second object, which answers, be ordered to take the fourth while somebody reads the second from it. */
  const replaceWhileRead = async ({ pair, publish }: Awaited<ReturnType<typeof openPair>>) => {
    await publish(1);
    await publish(2);
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    pause.until = promise;
    onTestFinished(() => {
      pause.until = undefined;
    });
    const reading = pair.answers('v2/jailbreak/package/search?q=example');
    await pair.settle();
    await publish(3);
    pair.published = pair.states[3] as PublishedState;
    pair.wake(0);
    for (const _ of ['there', 'back']) {
      while (!pair.isOnTheWay) await pair.settle();
      pair.arrive(0);
    }
    await pair.settle();
    expect(pair.wake(1)).toBe(1);
    await pair.settle();
    return async () => {
      pause.until = undefined;
      goOn();
      return (await reading)[1];
    };
  };

  it('E2: let who still reads what is to be replaced finish that', async () => {
    const opened = await openPair();
    const finish = await replaceWhileRead(opened);
    expect(await finish()).toContain('"description":"second"');
    await opened.pair.rest();
    expect(await opened.pair.ask()).toBe(opened.texts[3]);
  });

  it('E2: give who still reads what is to be replaced the same time each time, and an error after that', async () => {
    const opened = await openPair();
    const { pair, texts } = opened;
    const finish = await replaceWhileRead(opened);
    expect(pair.wake(1)).toBe(250);
    await pair.settle();
    pair.now += 10_000;
    pair.wake(1);
    await pair.settle();
    expect(await finish()).toBe(503);
    await pair.rest();
    expect(await pair.ask()).toBe(texts[3]);
  });

  it('E2: tell once that something is wrong with the publication, and once that all is well again', async () => {
    const { pair, publish } = await openPair();
    await publish(2);
    const events = async () => {
      told.length = 0;
      await pair.rest();
      return told.map((line) => JSON.parse(line).event);
    };
    pair.published = pair.states[0] as PublishedState;
    expect(await events()).toEqual(['trouble']);
    pair.published = pair.states[1] as PublishedState;
    expect(await events()).toEqual(['well']);
    expect(await events()).toEqual([]);
  });

  it('E2: go on with what they take where the platform has given up waking who takes it', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    pair.published = pair.states[1] as PublishedState;
    pair.onRead = (file) => (file.endsWith('.portion') ? Promise.reject(new Error('the file is away')) : undefined);
    await pair.rest(5);
    expect(await pair.ask()).toBe(texts[0]);
    pair.loseAlarm(1);
    pair.onRead = () => undefined;
    await pair.rest();
    expect(await pair.ask()).toBe(texts[1]);
  });

  it('E2: ask again within the interval after a restart, however long the pause after failures was to be', async () => {
    const { pair, texts } = await openPair();
    pair.onRead = () => Promise.reject(new Error('the file is away'));
    await pair.rest();
    // Another of the longest pauses begins.
    pair.wake(0);
    await pair.settle();
    pair.onRead = () => undefined;
    pair.restart(0);
    await pair.rest(4);
    expect(await pair.ask()).toBe(texts[0]);
  });

  it('E2: go on within the interval with what they take where who takes it was restarted, and only there', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    pair.published = pair.states[1] as PublishedState;
    const failFor20Minutes = async () => {
      pair.onRead = (file) => (file.endsWith('.portion') ? Promise.reject(new Error('the file is away')) : undefined);
      await pair.rest();
      // Another of the longest pauses begins.
      pair.wake(1);
      await pair.settle();
      // Whether the other one answers, and that it does.
      for (const _ of ['there', 'back']) {
        pair.arrive(0);
        await pair.settle();
      }
      pair.onRead = () => undefined;
    };
    await failFor20Minutes();
    await pair.rest(4);
    expect(await pair.ask()).toBe(texts[0]);
    await failFor20Minutes();
    pair.restart(1);
    await pair.rest(4);
    expect(await pair.ask()).toBe(texts[1]);
  });

  it('P3: have the signature that is published, though the generation stays', async () => {
    const { pair, publish } = await openPair();
    await publish(1);
    const { read, text } = pair.published;
    for (const jws of ['one..signature', 'another..signature']) {
      pair.published = { text, read: (file) => (file === generationPath.signature ? Buffer.from(jws) : read(file)) };
      await pair.rest();
      expect(await pair.answers(generationPath.signature)).toEqual([jws, 421]);
    }
  });

  it('E2: answer again where the storage of one was put back to when it stood aside', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    expect(await pair.answers()).toEqual([421, texts[1]]);
    pair.alter(1, aside);
    expect(await pair.ask()).toBe(421);
    await pair.rest();
    expect(await pair.answers()).toContain(texts[1]);
    expect(told.join('\n')).toMatch(/Neither object answered/);
    await publish(4);
    expect((await pair.answers()).sort()).toEqual([421, texts[3]]);
  });

  it('E2: leave the answer to the first where both have the same, and ask each other to take the next at once', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    const held = JSON.stringify({ text: texts[1], jws: null, format: catalogFormat });
    pair.alter(0, `INSERT OR REPLACE INTO remembered VALUES ('held', '${held}')`);
    pair.alter(0, "DELETE FROM remembered WHERE name = 'elsewhere'");
    expect(await pair.answers()).toEqual([texts[1], texts[1]]);
    pair.published = pair.states[2] as PublishedState;
    pair.wake(0);
    pair.wake(1);
    for (const _ of ['there', 'back']) {
      await pair.settle();
      pair.arrive(0);
      pair.arrive(0);
    }
    await pair.settle();
    expect(await pair.answers()).toEqual([texts[1], 421]);
    await pair.rest();
    expect(await pair.answers()).toEqual([421, texts[2]]);
    expect(told.filter((line) => line.includes('Neither'))).toEqual([]);
  });

  it('E2: answer both for a while where both saw at once that neither does, and never send each other away again', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    const held = JSON.stringify({ text: texts[1], jws: null, format: catalogFormat });
    pair.alter(0, `INSERT OR REPLACE INTO remembered VALUES ('held', '${held}')`);
    pair.alter(1, aside);
    expect(await pair.answers()).toEqual([421, 421]);
    pair.wake(0);
    pair.wake(1);
    for (let way = 0; way < 4; way++) {
      await pair.settle();
      pair.arrive(0);
      pair.arrive(0);
    }
    await pair.settle();
    expect(await pair.answers()).toEqual([texts[1], texts[1]]);
    await publish(3);
    expect((await pair.answers()).sort()).toEqual([421, texts[2]]);
    expect(told.filter((line) => line.includes('Neither'))).toHaveLength(2);
  });

  it('E2: leave the answer to who has the newer where both saw at once that neither answers, whatever is published', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    pair.published = pair.states[0] as PublishedState;
    pair.alter(1, aside);
    expect(await pair.answers()).toEqual([421, 421]);
    pair.wake(0);
    pair.wake(1);
    for (let way = 0; way < 4; way++) {
      await pair.settle();
      pair.arrive(0);
      pair.arrive(0);
    }
    await pair.rest();
    expect(await pair.answers()).toEqual([421, texts[1]]);
  });

  it('E2: stand aside still where an order comes while it is asked whether the other does', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    pair.alter(1, aside);
    expect(await pair.answers()).toEqual([421, 421]);
    pair.wake(0);
    await pair.settle();
    pair.arrive(0);
    await pair.settle();
    const third = pair.states[2] as PublishedState;
    const { portions } = generationSchema.parse(JSON.parse(third.text));
    const list = String(third.read(portions?.path ?? ''));
    expect(await pair.order(0, { text: third.text, jws: null, list, answering: texts[1] ?? '' })).toBe(false);
    pair.arrive(0);
    await pair.settle();
    expect((await pair.answers())[0]).toBe(421);
    pair.published = third;
    await pair.rest();
    expect(await pair.ask()).toBe(third.text);
  });

  it('E2: look once a minute at most whether the other answers, however often who stands aside is asked', async () => {
    const { pair, publish } = await openPair();
    await publish(1);
    await publish(2);
    pair.now += 60_000;
    const look = async () => {
      await pair.answers();
      const pause = pair.wake(0);
      for (const _ of ['there', 'back']) {
        await pair.settle();
        pair.arrive(0);
      }
      await pair.settle();
      return pause;
    };
    expect([await look(), await look(), await look()]).toEqual([1, undefined, undefined]);
    pair.now += 60_000;
    expect(await look()).toBe(1);
  });

  it('E2: begin at once with what was ordered while a portion of another could not be read', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    pair.published = pair.states[1] as PublishedState;
    const reading = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    pair.onRead = (file) => {
      if (!file.endsWith('.portion')) return undefined;
      begun.resolve();
      return reading.promise;
    };
    const order = async () => {
      await vi.waitFor(() => expect(pair.wake(0)).toBeDefined(), patience);
      await vi.waitFor(() => expect(pair.isOnTheWay).toBe(true), patience);
      pair.arrive(0);
      await vi.waitFor(() => expect(pair.isOnTheWay).toBe(true), patience);
      pair.arrive(0);
    };
    await order();
    pair.wake(1);
    await begun.promise;
    pair.published = pair.states[2] as PublishedState;
    await order();
    pair.onRead = () => undefined;
    reading.reject(new Error('the file is gone'));
    for (const _ of ['there', 'back']) {
      await vi.waitFor(() => expect(pair.isOnTheWay).toBe(true), patience);
      pair.arrive(0);
    }
    await pair.settle();
    expect(told.join()).toContain('the file is gone');
    expect(pair.wake(1)).toBe(1);
    await pair.rest();
    expect(await pair.answers()).toEqual([421, texts[2]]);
  });

  it('E2: take all anew once where a list says that other rows were published, and wait for the next from then on', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    const read: string[] = [];
    pair.onRead = (file) => void (file.endsWith('.portion') && read.push(file));
    pair.published = wrong(pair.states[1]);
    await pair.rest();
    const woken = pair.woken;
    await pair.rest();
    // One asks each minute, the other tries again every five.
    expect(pair.woken - woken).toBeLessThan(40);
    expect(await pair.ask()).toBe(texts[0]);
    expect(told.join('\n')).toMatch(/1 rows of record, and 2 were published: all is taken anew/);
    expect(told.join('\n')).toMatch(/build it anew, the list of portions is wrong/);
    expect(new Set(read).size).toBeGreaterThan(5);
    expect(read).toHaveLength(2 * new Set(read).size);
    // Nor is the next one taken whole that says so.
    pair.published = wrong(pair.states[2]);
    read.length = 0;
    await pair.rest();
    expect(await pair.ask()).toBe(texts[0]);
    expect(read.length).toBeLessThanOrEqual(new Set(read).size);
    await publish(4);
    expect(await pair.ask()).toBe(texts[3]);
  });

  it('E2: read the publication again where neither answers, and what both were ordered to take can never be whole', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    const { portions } = generationSchema.parse(JSON.parse(pair.states[2]?.text ?? ''));
    const list = JSON.stringify(String(wrong(pair.states[2]).read(portions?.path ?? '')));
    for (const at of [0, 1] as const) {
      pair.alter(at, aside);
      pair.alter(at, "DELETE FROM remembered WHERE name = 'held'");
      const taking = JSON.stringify({ text: `gone${at}`, jws: null });
      pair.alter(at, `INSERT OR REPLACE INTO remembered VALUES ('taking', '${taking}'), ('list', '${list}')`);
    }
    expect(await pair.ask()).toBe(421);
    await pair.rest();
    await publish(4);
    expect(await pair.ask()).toBe(texts[3]);
  });

  it('E2: leave answering to the other where a storage was put back to when it was empty', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    for (const name of ['held', 'elsewhere', 'tables']) pair.alter(0, `DELETE FROM remembered WHERE name = '${name}'`);
    expect(await pair.answers()).toEqual([503, texts[1]]);
    pair.wake(0);
    for (const _ of ['there', 'back']) {
      await vi.waitFor(() => expect(pair.isOnTheWay).toBe(true), patience);
      pair.arrive(0);
    }
    await pair.settle();
    expect(await pair.answers()).toEqual([421, texts[1]]);
    await publish(4);
    expect(await pair.answers()).toEqual([texts[3], 421]);
  });

  it('E2: stand aside where there is nothing to answer from, what was ordered cannot be had, and the other answers', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    for (const name of ['held', 'elsewhere']) pair.alter(0, `DELETE FROM remembered WHERE name = '${name}'`);
    const taking = JSON.stringify({ text: 'gone', jws: null });
    pair.alter(0, `INSERT OR REPLACE INTO remembered VALUES ('taking', '${taking}'), ('list', '"no list"')`);
    expect(await pair.answers()).toEqual([503, texts[1]]);
    await pair.rest();
    expect(await pair.answers()).toEqual([421, texts[1]]);
    await publish(4);
    expect(await pair.answers()).toEqual([texts[3], 421]);
  });

  it('E2: keep what another version took until something is taken in its place, since that version may come back', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    const other = "UPDATE remembered SET value = replace(value, '\"format\":', '\"format\":9') WHERE name = 'held'";
    const back = "UPDATE remembered SET value = replace(value, '\"format\":9', '\"format\":') WHERE name = 'held'";
    pair.alter(0, other);
    pair.published = withList(pair.states[0] as PublishedState, (list) => ({ ...list, catalog_format: 9 }));
    expect(await pair.answers()).toEqual([503, 421]);
    await pair.rest();
    expect(told.join()).toContain('of another version');
    pair.alter(0, back);
    expect((await pair.answers())[0]).toBe(texts[0]);
  });

  it('E2: goes on answering where the storage refuses an order', async () => {
    const { pair, publish, texts } = await openPair();
    await publish(1);
    await publish(2);
    const order = { text: 'x'.repeat(2_500_000), jws: null, list: '{}', answering: texts[1] ?? '' };
    pair.alter(
      0,
      "CREATE TRIGGER long BEFORE INSERT ON remembered WHEN length(new.value) > 2000000 BEGIN SELECT raise(ABORT, 'too long'); END",
    );
    pair.alter(0, "DELETE FROM remembered WHERE name = 'elsewhere'");
    await expect(pair.order(0, order)).rejects.toThrow('too long');
    expect((await pair.answers())[0]).toBe(texts[0]);
  });
});
