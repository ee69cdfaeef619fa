import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { createPlaces } from '../../functions/gateway/password-places.ts';
import { type CredentialStore, StoreUnavailable } from '../../functions/gateway/store/credential-store.ts';
import { countFailedIntrospection, countSignInAttempt, countSignInRequest } from '../../functions/gateway/throttle.ts';
import type { HttpError } from '../../functions/http/answers.ts';
import { BrowserSession, type Page } from '../support/browser-session.ts';
import { addAccount, password, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { describeEveryStore } from '../support/stores.ts';

const minute = 60_000;

/**
 * Asks the store again for as long as it is not available: on a busy machine, or of twenty behind one lock, one may take
 * longer than it waits, and what was not done is not counted.
 */
const untilDone = <Result>(ask: () => Promise<Result>): Promise<Result> =>
  ask().catch((error) => {
    if (error instanceof StoreUnavailable) return untilDone(ask);
    throw error;
  });

/** Tries to sign in to the devices page of a gateway behind one proxy; resolves to the status. */
const attempt = async (
  gateway: TestGateway,
  name: string,
  typed: string,
  address: string,
  browser = new BrowserSession(),
) => {
  const page = await browser.open(`${gateway.base}/v2/login`);
  const headers = { 'x-forwarded-for': address };
  return (await browser.submit(page, { name, password: typed }, { headers })).status;
};

describeEveryStore('the throttle', (newStore, kind) => {
  // What is decided by hundreds of attempts is decided above the store.
  const onSqlite = test.runIf(kind === 'SQLite');

  let gateway: TestGateway;
  let guessing: { readonly browser: BrowserSession; readonly page: Page } | undefined;
  /** Types a wrong password into the page that is open already, as who guesses does; resolves to the status. */
  const typeWrong = async (name: string, address: string) => {
    const browser = guessing?.browser ?? new BrowserSession();
    const open = guessing?.page ?? (await browser.open(`${gateway.base}/v2/login`));
    const headers = { 'x-forwarded-for': address };
    guessing = { browser, page: await browser.submit(open, { name, password: 'wrong' }, { headers }) };
    return guessing.page.status;
  };
  /** The same of many, which are counted as the pages count them, and not typed: tells how many were, and how many not. */
  const guessOften = async (times: number, of: (guess: number) => { name: string; address: string }) => {
    const deps = { store: gateway.store, cryptography: createNodeCryptography() };
    const statuses: Record<number, number> = {};
    for (let guess = 0; guess < times; guess++) {
      const { wait } = await countSignInAttempt(deps, { ...of(guess), knownBrowser: undefined });
      const status = wait === undefined ? 403 : 429;
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    return statuses;
  };
  beforeAll(async () => {
    gateway = await startGateway({ ...(await newStore()), TRUSTED_PROXIES: '1' });
  });
  afterEach(() => {
    gateway.advance(61 * minute);
    guessing = undefined;
  });
  afterAll(() => gateway.close());

  onSqlite('T13 wrong passwords of one address, however many, do not close the account to others', async () => {
    await addAccount(gateway.store, 'alice');
    for (let guess = 0; guess < 4; guess++) expect(await typeWrong('alice', '203.0.113.1')).toBe(403);
    expect(await guessOften(106, () => ({ name: 'alice', address: '203.0.113.1' }))).toEqual({ 403: 1, 429: 105 });
    expect(await attempt(gateway, 'alice', password, '203.0.113.1')).toBe(429);
    expect(await attempt(gateway, 'alice', password, '203.0.113.2')).toBe(303);
  });

  onSqlite('T13 wrong passwords of one /48, from ever new networks below it, do not close the account', async () => {
    await addAccount(gateway.store, 'bob');
    const network = (guess: number) => `2001:db8:1:${(guess * 256).toString(16)}::1`;
    const statuses = await guessOften(119, (guess) => ({ name: 'bob', address: network(guess) }));
    expect(statuses).toEqual({ 403: 20, 429: 99 });
    expect(await typeWrong('bob', network(119))).toBe(429);
    expect(await attempt(gateway, 'bob', password, '2001:db8:2::1')).toBe(303);
  });

  onSqlite('T4 addresses of one /64 are one client, for one account and for many', async () => {
    await addAccount(gateway.store, 'frank');
    for (let guess = 0; guess < 5; guess++) {
      expect(await typeWrong('frank', `2001:db8:6:100::${guess}`)).toBe(403);
    }
    expect(await attempt(gateway, 'frank', password, '2001:db8:6:100:ffff::1')).toBe(429);
    expect(await attempt(gateway, 'frank', password, '2001:db8:6:101::1')).toBe(303);
    const others = (guess: number) => ({ name: `name${guess}`, address: `2001:db8:6:100::${guess + 5}` });
    expect(await guessOften(44, others)).toEqual({ 403: 44 });
    expect(await typeWrong('name44', others(44).address)).toBe(403);
    expect(await typeWrong('gina', '2001:db8:6:100::ffff')).toBe(429);
    expect(await typeWrong('gina', '2001:db8:6:101::ffff')).toBe(403);
  });

  test('T4 a /56 that tries one account from ever new /64 is throttled, and others of its /48 are not', async () => {
    await addAccount(gateway.store, 'carol');
    for (let guess = 0; guess < 10; guess++) {
      expect(await typeWrong('carol', `2001:db8:3:10${guess}::1`)).toBe(403);
    }
    expect(await attempt(gateway, 'carol', password, '2001:db8:3:1ff::1')).toBe(429);
    expect(await attempt(gateway, 'carol', password, '2001:db8:3:2ff::1')).toBe(303);
  });

  onSqlite('T4 networks that try many accounts are throttled, a /56 before its /48', async () => {
    await addAccount(gateway.store, 'dave');
    const guesses = async (count: number, address: (guess: number) => string) => {
      const counted = await guessOften(count, (guess) => ({ name: `name${guess}`, address: address(guess) }));
      expect(counted).toEqual({ 403: count });
    };
    // 100 from the first /56, and 100 more from others of the same /48.
    await guesses(100, (guess) => `2001:db8:4:${(0x100 + guess).toString(16)}::1`);
    expect(await attempt(gateway, 'dave', password, '2001:db8:4:1ff::1')).toBe(429);
    expect(await attempt(gateway, 'dave', password, '2001:db8:4:f000::1')).toBe(303);
    await guesses(100, (guess) => `2001:db8:4:${(0x200 + guess * 256).toString(16)}::1`);
    expect(await attempt(gateway, 'dave', password, '2001:db8:4:f100::1')).toBe(429);
    expect(await attempt(gateway, 'dave', password, '2001:db8:5::1')).toBe(303);
  });

  onSqlite('T13 a browser known to the account gets in while the account is closed to all others', async () => {
    await addAccount(gateway.store, 'erin');
    const own = new BrowserSession();
    expect(await attempt(gateway, 'erin', password, '203.0.113.10', own)).toBe(303);
    const others = await guessOften(99, (guess) => ({ name: 'erin', address: `198.51.100.${guess}` }));
    expect(others).toEqual({ 403: 99 });
    expect(await typeWrong('erin', '198.51.100.99')).toBe(403);
    expect(await attempt(gateway, 'erin', password, '203.0.113.11')).toBe(429);
    expect(await attempt(gateway, 'erin', password, '198.51.100.1', own)).toBe(303);
    // Of another account it is as unknown as any.
    await addAccount(gateway.store, 'fred');
    await guessOften(100, (guess) => ({ name: 'fred', address: `198.51.100.${guess}` }));
    expect(await attempt(gateway, 'fred', password, '203.0.113.12', own)).toBe(429);
  });

  onSqlite('T13 a browser known to the account that is turned away makes no room for others', async () => {
    const deps = { store: gateway.store, cryptography: createNodeCryptography() };
    expect(await guessOften(100, (guess) => ({ name: 'frank', address: `198.51.100.${guess}` }))).toEqual({ 403: 100 });
    const of = (address: string, knownBrowser?: Uint8Array) =>
      countSignInAttempt(deps, { name: 'frank', address, knownBrowser });
    const known = await of('203.0.113.12', new Uint8Array(32));
    if (known.wait === undefined) await known.returnForAccount();
    expect([known.wait, (await of('203.0.113.13')).wait]).toEqual([undefined, expect.any(Number)]);
  });

  onSqlite(
    'T13 tries that are turned away, from however many networks, close no account, and their network they do',
    async () => {
      const deps = { store: gateway.store, cryptography: createNodeCryptography() };
      const turnAway = async (address: string) => {
        const counted = await countSignInAttempt(deps, { name: 'turned-away', address, knownBrowser: undefined });
        if (counted.wait === undefined) await counted.returnForAccount();
        return counted.wait;
      };
      for (let network = 0; network < 120; network++) expect(await turnAway(`2001:db8:${network}::1`)).toBeUndefined();
      for (let guess = 1; guess < 5; guess++) expect(await turnAway('2001:db8:0::1')).toBeUndefined();
      expect(await turnAway('2001:db8:0::1')).toBeGreaterThan(0);
    },
  );

  test('T4 what is given back twice makes no room for more', async () => {
    const attempts = [{ keyHash: createNodeCryptography().sha256(`${kind} twice`), most: 2, window: minute }];
    const count = () => untilDone(() => gateway.store.countAttempts(attempts));
    await count();
    for (let time = 0; time < 3; time++) {
      await untilDone(() => gateway.store.returnAttempts(attempts.map(({ keyHash }) => keyHash)));
    }
    expect([await count(), await count(), await count()]).toEqual([undefined, undefined, minute]);
  });

  test('T4 a window ends when it was to end at its first try, and of several the last one is waited for', async () => {
    const { sha256 } = createNodeCryptography();
    const [short, long] = ['short', 'long'].map((name) => sha256(`${kind} ${name} window`));
    if (!short || !long) throw new Error('no keys');
    const both = [
      { keyHash: short, most: 2, window: minute },
      { keyHash: long, most: 2, window: 10 * minute },
    ];
    const count = () => untilDone(() => gateway.store.countAttempts(both));
    expect(await count()).toBeUndefined();
    gateway.advance(minute / 2);
    expect([await count(), await count()]).toEqual([undefined, 9.5 * minute]);
    gateway.advance(9.5 * minute);
    expect(await count()).toBeUndefined();
  });

  test('T4 it counts for all keys or for none, however many count at once', async () => {
    const { sha256 } = createNodeCryptography();
    const [narrow, wide] = ['narrow', 'wide'].map((name) => sha256(`${kind} ${name}`));
    if (!narrow || !wide) throw new Error('no keys');
    const both = [
      { keyHash: wide, most: 20, window: minute },
      { keyHash: narrow, most: 3, window: minute },
    ];
    const counted = await Promise.all(
      Array.from({ length: 20 }, () => untilDone(() => gateway.store.countAttempts(both))),
    );
    expect(counted.filter((wait) => wait === undefined)).toHaveLength(3);
    expect(counted.filter((wait) => wait === minute)).toHaveLength(17);
    // 17 places are left under the wide key.
    for (let count = 0; count < 17; count++) {
      const one = [{ keyHash: wide, most: 20, window: minute }];
      expect(await untilDone(() => gateway.store.countAttempts(one))).toBeUndefined();
    }
    expect(await untilDone(() => gateway.store.countAttempts(both))).toBe(minute);
    gateway.advance(minute);
    const last = [{ keyHash: narrow, most: 3, window: minute }];
    expect(await untilDone(() => gateway.store.countAttempts(last))).toBe(undefined);
  });
});

// Where two servers count the same keys in PostgreSQL, one would wait for the other that waits for it.
test('it counts and gives back in one order of the keys, in whichever they come', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  expect(await gateway.health()).toBe(true);
  const database = new DatabaseSync(join(gateway.folder, 'gateway.sqlite'));
  onTestFinished(() => database.close());
  database.exec(`create table noted (key);
    create trigger counting before insert on gateway_attempts begin insert into noted values (hex(new.key_hash)); end;
    create trigger giving_back before update on gateway_attempts begin insert into noted values (hex(new.key_hash)); end`);
  const keys = ['02', '01', '03'].map((byte) => Uint8Array.from(Buffer.from(byte.repeat(32), 'hex')));
  const noted = () => {
    const rows = database.prepare('select substr(key, 1, 2) as key from noted order by rowid').all();
    database.exec('delete from noted');
    return rows.map(({ key }) => key);
  };
  await gateway.store.countAttempts(keys.map((keyHash) => ({ keyHash, most: 2, window: minute })));
  expect(noted()).toEqual(['01', '02', '03']);
  await gateway.store.returnAttempts(keys);
  expect(noted()).toEqual(['01', '02', '03']);
});

test('T4 each limit is counted for as long as the manual says', async () => {
  const counted = async (count: (deps: Parameters<typeof countSignInAttempt>[0]) => Promise<unknown>) => {
    const asked: string[] = [];
    const countAttempts: CredentialStore['countAttempts'] = async (attempts) => {
      asked.push(...attempts.map(({ most, window }) => `${most} in ${window / minute} minutes`));
      return undefined;
    };
    const store = { countAttempts } as Partial<CredentialStore> as CredentialStore;
    await count({ store, cryptography: createNodeCryptography() });
    return asked.sort();
  };
  const signIn = (address: string, knownBrowser?: Uint8Array) =>
    counted((deps) => countSignInAttempt(deps, { name: 'alice', address, knownBrowser }));
  const ofAddress = ['5 in 15 minutes', '50 in 15 minutes', '100 in 60 minutes'];
  expect(await signIn('192.0.2.1')).toEqual([...ofAddress].sort());
  const ofNetworks = [10, 20, 100, 200].map((most) => `${most} in 15 minutes`);
  expect(await signIn('2001:db8::1')).toEqual([...ofAddress, ...ofNetworks].sort());
  expect(await signIn('192.0.2.1', new Uint8Array(32))).toEqual(['10 in 15 minutes']);
  expect(await counted((deps) => countFailedIntrospection(deps, '192.0.2.1'))).toEqual(['10 in 15 minutes']);
  // At the edge; a network, a /56 and a /48.
  const ofRate = [30, 60, 120].map((most) => `${most} in 1 minutes`);
  expect(await counted((deps) => countSignInRequest(deps, '2001:db8::1', 30))).toEqual(ofRate.sort());
});

test('T11 a failed introspection counts for all of a /48, in which one subscriber may have every address', async () => {
  const keys: string[] = [];
  const store = {
    countAttempts: async (attempts: readonly { keyHash: Uint8Array }[]) => {
      for (const { keyHash } of attempts) keys.push(Buffer.from(keyHash).toString('hex'));
    },
  } as Partial<CredentialStore> as CredentialStore;
  const deps = { store, cryptography: createNodeCryptography() };
  for (const address of ['2001:db8::1', '2001:db8:0:1::1', '2001:db8:1::1']) {
    await countFailedIntrospection(deps, address);
  }
  expect(keys.map((key) => keys.indexOf(key))).toEqual([0, 0, 2]);
});

test('T4 a sign-in whose password cannot be looked at, for a fault of ours, is no guess', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  await gateway.store.addAccount({ id: 'a', name: 'alice', displayName: 'alice', passwordHash: 'of another program' });
  for (let time = 0; time < 6; time++) expect(await attempt(gateway, 'alice', password, '192.0.2.1')).toBe(500);
});

test('T4 a sign-in whose account cannot be looked up is no guess', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  await addAccount(gateway.store, 'alice');
  const lookUp = vi.spyOn(gateway.store, 'findAccount').mockRejectedValue(new StoreUnavailable(new Error('away')));
  for (let time = 0; time < 6; time++) expect(await attempt(gateway, 'alice', password, '192.0.2.1')).toBe(503);
  lookUp.mockRestore();
  expect(await attempt(gateway, 'alice', password, '192.0.2.1')).toBe(303);
});

test('T12 a throttled sign-in writes nothing', async () => {
  const gateway = await startGateway({ TRUSTED_PROXIES: '1' });
  await addAccount(gateway.store, 'alice');
  for (let guess = 0; guess < 5; guess++) await attempt(gateway, 'alice', 'wrong', '203.0.113.1');
  const written = () =>
    ['gateway.sqlite', 'gateway.sqlite-wal'].map((name) =>
      createNodeCryptography().sha256(readFileSync(join(gateway.folder, name), 'latin1')),
    );
  const before = written();
  for (let guess = 0; guess < 20; guess++) {
    expect(await attempt(gateway, 'alice', 'wrong', '203.0.113.1')).toBe(429);
  }
  expect(written()).toEqual(before);
  await gateway.close();
});

test('T13 45 sign-ins of one /48 at once neither keep another network out nor a known browser', async () => {
  const gateway = await startGateway({ TRUSTED_PROXIES: '1' }, { passwordCost: { n: 2 ** 14, r: 8, p: 1 } });
  await addAccount(gateway.store, 'alice');
  const own = new BrowserSession();
  expect(await attempt(gateway, 'alice', password, '203.0.113.1', own)).toBe(303);
  let turnedAway: () => void = () => {};
  const full = new Promise<void>((resolve) => {
    turnedAway = resolve;
  });
  const flood = Array.from({ length: 45 }, async (_, guess) => {
    const status = await attempt(gateway, `name${guess}`, 'wrong', `2001:db8:9:${guess}::1`);
    if (status === 503) turnedAway();
    return status;
  });
  await full;
  expect(
    await Promise.all([
      attempt(gateway, 'alice', password, '203.0.113.2'),
      attempt(gateway, 'alice', password, '2001:db8:9:ffff::1', own),
    ]),
  ).toEqual([303, 303]);
  const statuses = await Promise.all(flood);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(20);
  expect(statuses.filter((status) => status !== 503 && status !== 403)).toEqual([]);
  await gateway.close();
});

test('T4 guesses of one address that is turned away now and then stop all the same', async () => {
  const gateway = await startGateway({ TRUSTED_PROXIES: '1' }, { passwordCost: { n: 2 ** 13, r: 8, p: 1 } });
  await addAccount(gateway.store, 'alice');
  const given = vi.spyOn(gateway.store, 'returnAttempts');
  const counted = new Map<number, number>();
  for (let round = 0; round < 20 && !counted.has(429); round++) {
    const statuses = await Promise.all(
      Array.from({ length: 12 }, (_, guess) => attempt(gateway, `name${round}-${guess}`, 'wrong', '203.0.113.1')),
    );
    for (const status of statuses) counted.set(status, (counted.get(status) ?? 0) + 1);
  }
  expect(counted.get(503)).toBeGreaterThan(0);
  // Who found the places filled only when counted has counted for the address.
  expect(given.mock.calls.every(([keys]) => keys.length === 1)).toBe(true);
  expect((counted.get(403) ?? 0) + given.mock.calls.length).toBe(50);
  await gateway.close();
});

test('T13 of a flood that fills the places nothing more is written, and a known browser gets in', async () => {
  // A third of a second for each check.
  const gateway = await startGateway({ TRUSTED_PROXIES: '1' }, { passwordCost: { n: 2 ** 15, r: 8, p: 8 } });
  await addAccount(gateway.store, 'alice');
  const own = new BrowserSession();
  expect(await attempt(gateway, 'alice', password, '203.0.113.1', own)).toBe(303);
  let answered = 0;
  const guess = async (name: string) => {
    const status = await attempt(gateway, name, 'wrong', '198.51.100.1');
    answered++;
    return status;
  };
  const flood = Array.from({ length: 15 }, (_, one) => guess(`name${one}`));
  // The others have the places of their network: one is checked, and four wait.
  await expect.poll(() => answered).toBeGreaterThanOrEqual(15 - 5);
  const counted = vi.spyOn(gateway.store, 'countAttempts');
  // Where a check ends just now, all who come have room, and those that find it taken are counted. They fill the places.
  let spared = 0;
  for (let round = 0; round < 4 && spared === 0; round++) {
    counted.mockClear();
    const late = await Promise.all(Array.from({ length: 8 }, (_, one) => guess(`late${round}-${one}`)));
    expect(late.every((status) => status === 503 || status === 403)).toBe(true);
    spared = late.length - counted.mock.calls.length;
  }
  expect(spared).toBeGreaterThan(0);
  expect(await attempt(gateway, 'alice', password, '203.0.113.1', own)).toBe(303);
  expect((await Promise.all(flood)).filter((status) => status !== 503 && status !== 403)).toEqual([]);
  await gateway.close();
});

test('T13 tries that wait for the store, or are throttled, take no place of those who may sign in', async () => {
  const gateway = await startGateway({ TRUSTED_PROXIES: '1' });
  await addAccount(gateway.store, 'alice');
  const count = gateway.store.countAttempts;
  let waiting = 0;
  let goOn: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  vi.spyOn(gateway.store, 'countAttempts').mockImplementation(async (attempts) => {
    if (++waiting > 100) return count(attempts);
    await held;
    return 60_000;
  });
  const flood = Array.from({ length: 100 }, (_, guess) => attempt(gateway, 'bob', 'wrong', `198.51.${guess >> 3}.1`));
  await expect.poll(() => waiting).toBe(100);
  expect(await attempt(gateway, 'alice', password, '203.0.113.1')).toBe(303);
  expect(await attempt(gateway, 'alice', password, '198.51.0.1')).toBe(303);
  goOn();
  expect(new Set(await Promise.all(flood))).toEqual(new Set([429]));
  await gateway.close();
});

describe('T13 places for password checks', () => {
  /** Starts pieces of work that end when they are told to. */
  const workshop = (limits: Parameters<typeof createPlaces>[0]) => {
    const { inTurn, assertRoom } = createPlaces(limits);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const start = (name: string, place: Parameters<typeof inTurn>[0]) => {
      const done = inTurn(place, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      }).catch(({ status }) => `${status}`);
      return done;
    };
    const end = async (name: string, done: Promise<string>) => {
      ends.get(name)?.();
      expect(await done).toBe(name);
    };
    return { begun, start, end, assertRoom };
  };

  test('known browsers wait in a line of their own, and the two take turns', async () => {
    const { begun, start, end } = workshop({ parallel: 1, waiting: 4, each: 4 });
    const done = new Map<string, Promise<string>>();
    const begin = (name: string, known: boolean) => done.set(name, start(name, { holder: name, known }));
    for (const name of ['a', 'b', 'c', 'd', 'e']) begin(name, false);
    expect(await start('f', { holder: 'f' })).toBe('503');
    for (const name of ['K', 'L']) begin(name, true);
    for (const name of ['a', 'K', 'b', 'L', 'c', 'd', 'e']) {
      expect(begun.at(-1)).toBe(name);
      await end(name, done.get(name) ?? Promise.reject(new Error('not begun')));
    }
    // All places are free again.
    const last = start('z', {});
    expect(begun.at(-1)).toBe('z');
    await end('z', last);
  });

  test('one holder takes a few places and gives them back', async () => {
    const { begun, start, end } = workshop({ parallel: 1, waiting: 10, each: 2 });
    const first = start('1', { holder: 'one' });
    const [second, third] = [start('2', { holder: 'one' }), start('3', { holder: 'one' })];
    expect(await start('4', { holder: 'one' })).toBe('503');
    // The same name in the other line is somebody else.
    const known = start('k', { holder: 'one', known: true });
    const other = start('o', { holder: 'other' });
    await end('1', first);
    await end('k', known);
    await end('2', second);
    const again = start('5', { holder: 'one' });
    await end('3', third);
    await end('o', other);
    await end('5', again);
    expect(begun).toEqual(['1', 'k', '2', '3', 'o', '5']);
  });

  test('whether there is room is said without taking any', async () => {
    const { start, end, assertRoom } = workshop({ parallel: 1, waiting: 3, each: 2 });
    const isRoom = (holder: string, known = false) => {
      try {
        return assertRoom({ holder, known }) === undefined;
      } catch (error) {
        return (error as HttpError).status !== 503;
      }
    };
    const first = start('1', { holder: 'one' });
    for (let look = 0; look < 5; look++) expect(isRoom('one')).toBe(true);
    const [second, third] = [start('2', { holder: 'one' }), start('3', { holder: 'one' })];
    expect([isRoom('one'), isRoom('one', true), isRoom('other')]).toEqual([false, true, true]);
    const fourth = start('4', { holder: 'other' });
    expect([isRoom('another'), isRoom('another', true)]).toEqual([false, true]);
    await end('1', first);
    expect([isRoom('one'), isRoom('another')]).toEqual([true, true]);
    for (const [name, done] of [
      ['2', second],
      ['3', third],
      ['4', fourth],
    ] as const) {
      await end(name, done);
    }
    expect(isRoom('one')).toBe(true);
  });
});
