import { hash } from 'node:crypto';
import os from 'node:os';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Claim, thisHost } from '../../src/uploading/claim.ts';
import type { Destination } from '../../src/uploading/destination.ts';
import type { LocalGeneration } from '../../src/uploading/local-publication.ts';
import { formatRecord, newRecord, parseRecord } from '../../src/uploading/record.ts';
import { assertNotNewer, type State } from '../../src/uploading/state.ts';
import { Conflict } from '../../src/uploading/upload-error.ts';
import { patience } from '../support/patience.ts';

// More than any system numbers its processes with.
const nobody = 2 ** 30;
const ofThisName = hash('sha256', os.hostname()).slice(0, 16);

/** Takes the right to write from one who had it; returns whom it waited for. */
const takeFrom = async (host: string, pid: number, silentMs: number): Promise<string[]> => {
  const holder = { id: 'former', host, pid, since: '2026-05-01T00:00:00.000Z' };
  let bytes = formatRecord({ ...newRecord, format: 1, holder, turn: 1 });
  const tagOf = () => hash('sha256', bytes);
  const destination = {
    title: 'memory',
    isSure: () => true,
    read: async () => ({ bytes, tag: tagOf() }),
    replace: async (_name: string, next: Buffer) => {
      bytes = next;
      return tagOf();
    },
  } as unknown as Destination;
  const waited: string[] = [];
  const times = { renewMs: 3_600_000, silentMs, pollMs: 1, settleMs: 1 };
  const claim = await Claim.take(destination, times, (words) => waited.push(words));
  await claim.release();
  return waited;
};

it('P1: an upload whose process of this machine is gone is not waited for', async () => {
  expect(await takeFrom(thisHost, nobody, 3_600_000)).toEqual([]);
});

it('P1: of a process of another machine, and of one with our own number, nobody knows: a sign of life is waited for', async () => {
  expect(await takeFrom('another', nobody, 1)).toEqual([expect.stringContaining(`${nobody} on another machine`)]);
  expect(await takeFrom(thisHost, process.pid, 1)).toEqual([expect.stringContaining(`${process.pid} on this machine`)]);
});

it.runIf(process.platform === 'linux')(
  'P1: of a process of a machine of the same name, or of another container of this one, nobody knows either',
  async () => {
    expect(await takeFrom(ofThisName, nobody, 1)).toEqual([expect.stringContaining(`${nobody} on another machine`)]);
  },
);

it('P1: a destination that keeps nothing of what it takes is not asked on and on', async () => {
  let replaced = 0;
  const replace = async () => {
    if (replaced++ === 100) throw new Error('asked on and on');
    return 'tag';
  };
  const destination = { title: 'nowhere', isSure: () => false, read: async () => undefined, replace };
  const times = { renewMs: 3_600_000, silentMs: 1, pollMs: 1, settleMs: 1 };
  const taking = Claim.take(destination as unknown as Destination, times, () => {});
  await expect(taking).rejects.toThrow(/^nowhere answers that it has taken .*, and has no such file/);
});

it('P1: says of a destination that somebody emptied meanwhile that it is so, and of no other upload', async () => {
  let record: Buffer | undefined;
  const destination = {
    title: 'memory',
    isSure: () => true,
    read: async () => record && { bytes: record, tag: `${record}` },
    replace: async (_name: string, bytes: Buffer, tag?: string) => {
      if (record?.toString() !== tag) throw new Conflict();
      record = bytes;
      return `${bytes}`;
    },
  } as unknown as Destination;
  const claim = await Claim.take(destination, { renewMs: 3_600_000, silentMs: 1, pollMs: 1, settleMs: 1 }, () => {});
  record = undefined;
  await expect(claim.renew()).rejects.toThrow(/^memory has \S+ no more: somebody removed it/);
});

/** A destination that keeps one record; `sure` tells whether it refuses to replace another one than it is told. */
const keeping = (sure: boolean) => {
  const kept: { bytes: Buffer | undefined; writes: number } = { bytes: undefined, writes: 0 };
  const destination = {
    title: 'memory',
    isSure: () => sure,
    read: async () => kept.bytes && { bytes: kept.bytes, tag: `${kept.bytes}` },
    replace: async (_name: string, bytes: Buffer) => {
      kept.bytes = bytes;
      kept.writes++;
      return `${bytes}`;
    },
  } as unknown as Destination;
  return { kept, destination };
};
const hour = 3_600_000;

it('P1: an upload that another is always quicker than gives up, whether the destination says so or shows it', async () => {
  for (const sure of [true, false]) {
    let turn = 0;
    const record = () => formatRecord({ ...newRecord, format: 1, holder: null, turn });
    const destination = {
      title: 'memory',
      isSure: () => sure,
      read: async () => ({ bytes: record(), tag: `${turn}` }),
      replace: async () => {
        if (++turn > 1000) throw new Error('This would never end');
        if (sure) throw new Conflict();
        return `${turn}`;
      },
    } as unknown as Destination;
    const times = { renewMs: hour, silentMs: 1, pollMs: 1, settleMs: 1 };
    await expect(Claim.take(destination, times, () => {})).rejects.toThrow(/^Others keep writing .* at memory/);
  }
});

it('P1: what another upload has recorded is not overwritten, though the destination would allow it', async () => {
  const { kept, destination } = keeping(false);
  const claim = await Claim.take(destination, { renewMs: hour, silentMs: hour, pollMs: 1, settleMs: 1 }, () => {});
  const holder = { id: 'other', host: 'another', pid: nobody, since: '2026-05-01T00:00:00.000Z' };
  const other = formatRecord({ ...newRecord, format: 1, holder, turn: 9 });
  kept.bytes = other;
  await expect(claim.update({ forms: ['file'] })).rejects.toThrow(/^Another upload to memory has taken over/);
  expect(kept.bytes).toBe(other);
  // Nor is anything sent after that, whatever becomes of what the other has recorded.
  kept.bytes = undefined;
  await expect(claim.assertFresh()).rejects.toThrow(/^Another upload to memory has taken over/);
  await expect(claim.update({ forms: ['file'] })).rejects.toThrow(/^Another upload to memory has taken over/);
  await claim.release();
  expect(kept.bytes).toBeUndefined();
});

it('P1: a record keeps what uploads before noted, and no two that are written are alike, by which a renewal shows', async () => {
  const { kept, destination } = keeping(true);
  const noted = { ...newRecord, forms: ['file'], catalogs: ['v2/catalog/a'] };
  kept.bytes = formatRecord({ ...noted, format: 1, holder: null, turn: 7 });
  const claim = await Claim.take(destination, { renewMs: hour, silentMs: hour, pollMs: 1, settleMs: 1 }, () => {});
  expect(claim.record).toEqual(noted);
  const written = [`${kept.bytes}`];
  for (const write of [() => claim.renew(), () => claim.update({ forms: ['other'] }), () => claim.renew()]) {
    await write();
    written.push(`${kept.bytes}`);
  }
  expect(written.map((text) => parseRecord(Buffer.from(text), 'memory').turn)).toEqual([8, 9, 10, 11]);
  expect(claim.record).toEqual({ ...noted, forms: ['other'] });
  await claim.release();
  expect(parseRecord(kept.bytes, 'memory')).toMatchObject({ forms: ['other'], catalogs: noted.catalogs, holder: null });
});

it('P1: who gives no sign of life is waited for until the time is over, and who gives one has the right to write', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => void vi.restoreAllMocks());
  const holder = { id: 'other', host: 'another', pid: nobody, since: '2026-05-01T00:00:00.000Z' };
  const times = { renewMs: hour, silentMs: 1000, pollMs: 1, settleMs: 1 };
  const take = async (isAlive: boolean) => {
    const { kept, destination } = keeping(true);
    let reads = 0;
    const read = async (name: string) => {
      if (reads === 100) throw new Error('This would never end');
      // Half of the time goes by between two looks.
      now += 500;
      if (reads++ === 0 || isAlive) kept.bytes = formatRecord({ ...newRecord, format: 1, holder, turn: reads });
      return destination.read(name);
    };
    const told: string[] = [];
    const taking = Claim.take({ ...destination, read }, times, (words) => told.push(words));
    return { reads: () => reads, told, taking };
  };
  const dead = await take(false);
  await (await dead.taking).release();
  // At once, after half of it, when it is just over, and later.
  expect([dead.reads(), dead.told.length]).toEqual([4, 1]);
  const alive = await take(true);
  await expect(alive.taking).rejects.toThrow(/^Another upload to memory is under way .*another machine/);
  expect([alive.reads(), alive.told.length]).toEqual([2, 1]);
});

it('P1: an upload that another was quicker than once, where the destination cannot say so, looks again and goes on', async () => {
  const { kept, destination } = keeping(false);
  const replace: Destination['replace'] = async (...given) => {
    const tag = await destination.replace(...given);
    // The other one has ended by the time that is looked for.
    if (kept.writes === 1) kept.bytes = formatRecord({ ...newRecord, format: 1, holder: null, turn: 1 });
    return tag;
  };
  const times = { renewMs: hour, silentMs: hour, pollMs: 1, settleMs: 1 };
  const claim = await Claim.take({ ...destination, replace }, times, () => {});
  expect(kept.writes).toBe(2);
  await claim.release();
});

it('P1: an upload that slept for half of the time after which others take over renews its claim before it goes on', async () => {
  const { kept, destination } = keeping(true);
  const claim = await Claim.take(destination, { renewMs: hour, silentMs: hour, pollMs: 1, settleMs: 1 }, () => {});
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => void vi.restoreAllMocks());
  for (const [slept, writes] of [
    [0.4 * hour, 1],
    [0.6 * hour, 2],
    [0.9 * hour, 2],
  ] as const) {
    clock.mockReturnValue(now + slept);
    await claim.assertFresh();
    expect(kept.writes).toBe(writes);
  }
  await claim.release();
});

it('P1: a claim renews itself, and sends no second renewal while one is under way', async () => {
  const { kept, destination } = keeping(true);
  let under = 0;
  let most = 0;
  const slowly: Destination['replace'] = async (name, bytes, tag) => {
    most = Math.max(most, ++under);
    await new Promise((resolve) => setTimeout(resolve, 20));
    under--;
    return destination.replace(name, bytes, tag);
  };
  const slow = { ...destination, replace: slowly } as unknown as Destination;
  const claim = await Claim.take(slow, { renewMs: 1, silentMs: hour, pollMs: 1, settleMs: 1 }, () => {});
  await vi.waitUntil(() => kept.writes >= 4, patience);
  const { writes } = kept;
  await claim.release();
  // At most the one under way, and the one that gives it up.
  expect(kept.writes).toBeLessThanOrEqual(writes + 2);
  expect(most).toBe(1);
});

it('P1: a claim that was given up is renewed no more', async () => {
  const [begun, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  onTestFinished(() => void vi.restoreAllMocks());
  const times = { renewMs: 54_321, silentMs: hour, pollMs: 1, settleMs: 1 };
  await (await Claim.take(keeping(true).destination, times, () => {})).release();
  const timer = begun.mock.results[begun.mock.calls.findIndex(([, milliseconds]) => milliseconds === 54_321)]?.value;
  expect(typeof timer).toBe('object');
  expect(ended.mock.calls.some(([one]) => one === timer)).toBe(true);
});

it('P3: what a destination holds is replaced unless it is newer, by its number and then by its date', () => {
  const [early, late] = ['2026-05-01T00:00:00.000Z', '2026-05-02T00:00:00.000Z'];
  const generation = (number: number, date: string) =>
    ({ generation: { number, date }, text: Buffer.from(`${number} ${date}`) }) as unknown as LocalGeneration;
  const replace = (there: LocalGeneration | undefined, here: LocalGeneration) => () =>
    assertNotNewer({ current: there } as unknown as State, here, { title: 'there' } as Destination, 'here');
  for (const there of [undefined, generation(1, late), generation(2, early), generation(2, late)]) {
    expect(replace(there, generation(2, late))).not.toThrow();
  }
  expect(replace(generation(2, late), generation(2, early))).toThrow(/generation 2 of .*05-02.* newer than .* 2 of/);
  expect(replace(generation(3, early), generation(2, late))).toThrow(/newer/);
});
