import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Places } from '../../src/crawl/visit-places.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';
import { OriginServer, statusFault } from '../support/origin-server.ts';

describe('origins that never answer', () => {
  let bench: CrawlBench;
  const silent: OriginServer[] = [];

  beforeEach(async () => {
    bench = await CrawlBench.start();
    for (let number = 0; number < 8; number++) {
      const origin = await OriginServer.start(`127.0.2.${number + 1}`);
      origin.break('/repo/InRelease', { kind: 'silent' });
      silent.push(origin);
    }
  });
  afterEach(async () => {
    for (const origin of silent.splice(0)) await origin.stop();
    await bench.stop();
  });

  it('C7: hold up nobody who stands behind them, however few are worked on at once', async () => {
    const dead = silent.map((origin, number) => makeEntry(`dead${number}`, origin.uri('repo')));
    const files = await generateRepository();
    const alive = Array.from({ length: 4 }, (_, number) => {
      bench.origin.serve(`repo${number}`, files);
      return makeEntry(`alive${number}`, bench.origin.uri(`repo${number}`));
    });
    const enough = new AbortController();
    const done: string[] = [];
    const crawl = bench.crawl([...dead, ...alive], {
      concurrency: 2,
      limits: { placeMs: 20 },
      signal: enough.signal,
      onOutcome: ({ slug, outcome }) => {
        done.push(`${slug} ${outcome}`);
        if (done.length === alive.length) enough.abort();
      },
    });
    await expect(crawl).rejects.toThrow();
    expect(done.sort()).toEqual(alive.map(({ slug }) => `${slug} fresh`));
    // Each of the dead was asked, and is waited for still.
    expect(silent.map(({ requests }) => requests.length <= 1)).not.toContain(false);
  });

  it('C6: are asked once; one that has said a word is asked again', async () => {
    bench.origin.serve('repo', await generateRepository());
    bench.origin.break('/repo/InRelease', { kind: 'silent' });
    expect(await bench.crawlOne()).toMatchObject({ code: 'timeout', requests: 1 });
    bench.origin.mend();
    bench.origin.remove('/repo/InRelease');
    bench.origin.break('/repo/Release', (_request, nth) => (nth === 1 ? { kind: 'silent' } : undefined));
    expect(await bench.crawlOne()).toMatchObject({ outcome: 'fresh' });
    bench.origin.break('/repo/Release', { kind: 'silent' });
    bench.origin.break('/repo/InRelease', statusFault(404));
    await bench.store.remove('repo');
    // Once again, and no more: each costs the whole time that an answer may take.
    expect((await bench.crawlOne()).asked).toEqual(['/InRelease 404', '/Release 0', '/Release 0']);
  });
});

describe('places', () => {
  const never = new AbortController().signal;
  const limits = { placeMs: 1, visitsUnderWay: 3 };
  const entered = async (places: Places) => ({ place: await places.enter(never) });

  it('C2: who got an answer after a long wait goes on when there is a place again, and not before', async () => {
    const places = new Places(1, limits);
    const first = await entered(places);
    const wait = first.place.wait(never);
    // There is one place, so this resolves when it was given up.
    const second = await entered(places);
    let isBack = false;
    const back = wait.end().then(() => {
      isBack = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isBack).toBe(false);
    second.place.leave();
    await back;
    expect(isBack).toBe(true);
    first.place.leave();
  });

  it('C2: an answer in time keeps the place', async () => {
    const places = new Places(1, { ...limits, placeMs: 3_600_000 });
    const first = await entered(places);
    const wait = first.place.wait(never);
    wait.answered();
    wait.again();
    await wait.end();
    const clock = new AbortController();
    const second = places.enter(clock.signal);
    clock.abort();
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
    first.place.leave();
    (await places.enter(never)).leave();
  });

  it('C7: bounds the visits that wait too, and an end while one waits gives everything back', async () => {
    const places = new Places(1, limits);
    const waiting = [];
    for (let number = 0; number < 3; number++) {
      const { place } = await entered(places);
      waiting.push({ place, wait: place.wait(never) });
    }
    // Timers of one length end in order, so all three have given up their place by then.
    await new Promise((resolve) => setTimeout(resolve, limits.placeMs));
    const ended = new AbortController();
    let isIn = false;
    const fourth = places.enter(ended.signal).then(() => {
      isIn = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIn).toBe(false);
    ended.abort();
    await expect(fourth).rejects.toMatchObject({ code: 'aborted' });
    for (const { place } of waiting) place.leave();
    const again = await entered(places);
    again.place.leave();
  });
});
