import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { backUp, restore } from '../../functions/gateway/store/backup.ts';
import { createSteadyClock } from '../../functions/gateway/store/clock.ts';
import type { CredentialStore } from '../../functions/gateway/store/credential-store.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { newDatabase } from '../support/new-database.ts';
import type { Credentials } from '../support/package-manager.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

/** The machine's clock, which can be set, and the time that passes, which cannot. */
const machine = { wall: Date.UTC(2026, 0, 1), elapsed: 0 };
const pass = (time: number) => {
  machine.wall += time;
  machine.elapsed += time;
};
const useMachine = () => {
  vi.spyOn(Date, 'now').mockImplementation(() => machine.wall);
  vi.spyOn(performance, 'now').mockImplementation(() => machine.elapsed);
};
afterEach(() => {
  vi.restoreAllMocks();
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-clock-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = () => join(folder, `${++files}.sqlite`);
const open = (file: string) => openCredentialStore({ kind: 'sqlite', file }, createNodeCryptography());

const signIn = async (store: CredentialStore): Promise<Credentials> => {
  const id = createNodeCryptography().randomId();
  await store.addAccount({ id, name: id, displayName: id, passwordHash: '' });
  return issue(openProtocol(store, { credentialLife: 0 }), id);
};
const refresh = async (store: CredentialStore, credentials: Credentials) =>
  openProtocol(store, { credentialLife: 0 }).refresh(credentials);

test('T14 a clock with no other to go by stands where the machine is set back, until that time is reached again', () => {
  let wall = 1_000_000;
  // As in a Durable Object, where every clock is that of the last event.
  const clock = createSteadyClock(
    () => wall,
    () => 0,
  );
  clock.observe(1_000_700);
  wall = 1_000_400;
  expect(clock.now()).toBe(1_000_700);
  wall = 900_000;
  expect(clock.now()).toBe(1_000_700);
  wall = 1_000_900;
  expect(clock.now()).toBe(1_000_900);
});

test('a clock follows the machine forward, and runs on where it is set back', () => {
  let [wall, elapsed] = [1_000_000, 0];
  const clock = createSteadyClock(
    () => wall,
    () => elapsed,
  );
  expect(clock.now()).toBe(1_000_000);
  wall += 500;
  expect(clock.now()).toBe(1_000_500);
  wall -= 300_000;
  expect(clock.now()).toBe(1_000_500);
  elapsed += 250.6;
  expect(clock.now()).toBe(1_000_750);
  clock.observe(1_000_700);
  expect(clock.now()).toBe(1_000_750);
  clock.observe(1_002_000);
  expect(clock.now()).toBe(1_002_000);
  elapsed += 10;
  expect(clock.now()).toBe(1_002_010);
});

test('T5 a clock set back half an hour does not keep the return of a used refresh token from being noticed', async () => {
  useMachine();
  const store = open(newFile());
  const first = await signIn(store);
  pass(minute);
  expect((await refresh(store, first)).decision).toBe('rotate');
  machine.wall -= 30 * minute;
  pass(11 * second);
  expect((await refresh(store, first)).decision).toBe('reused');
  await store.close();
});

test('T5 nor does one that is set back between two runs', async () => {
  useMachine();
  const file = newFile();
  const before = open(file);
  const first = await signIn(before);
  pass(minute);
  expect((await refresh(before, first)).decision).toBe('rotate');
  await before.close();
  machine.wall -= 30 * minute;
  machine.elapsed = 0;
  const after = open(file);
  // What is written now comes after what was written then.
  expect((await refresh(after, first)).decision).toBe('refused');
  pass(11 * second);
  expect((await refresh(after, first)).decision).toBe('reused');
  await after.close();
});

test('T5 nor do credentials live longer where it is set back between two runs', async () => {
  useMachine();
  const file = newFile();
  const before = open(file);
  const id = createNodeCryptography().randomId();
  await before.addAccount({ id, name: id, displayName: id, passwordHash: '' });
  const { auth_token: first } = await issue(openProtocol(before), id);
  pass(59 * minute);
  await issue(openProtocol(before), id);
  await before.close();
  machine.wall -= 20 * 60 * minute;
  machine.elapsed = 0;
  const after = open(file);
  const protocol = openProtocol(after);
  expect(await protocol.check(first)).toBeDefined();
  pass(minute);
  expect(await protocol.check(first)).toBeUndefined();
  await after.close();
});

test('T5 a process whose clock is behind learns the time from what another one wrote', async () => {
  useMachine();
  const file = newFile();
  const ahead = open(file);
  const first = await signIn(ahead);
  machine.wall -= 30 * minute;
  const behind = open(file);
  expect(await behind.hasAccounts()).toBe(true);
  // The first process saw the time before the clock was set back, and wrote later times than the second one knows.
  pass(25 * minute);
  expect((await refresh(ahead, first)).decision).toBe('rotate');
  expect((await refresh(behind, first)).decision).toBe('refused');
  pass(11 * second);
  expect((await refresh(behind, first)).decision).toBe('reused');
  await Promise.all([ahead.close(), behind.close()]);
});

test('T8 a clock more than a day behind the store is refused with a sentence, and used once it is set', async () => {
  useMachine();
  const file = newFile();
  const before = open(file);
  const first = await signIn(before);
  await before.close();
  machine.wall -= 2 * day;
  const after = open(file);
  await expect(after.probe()).rejects.toMatchObject({ cause: { code: 'clock_behind' } });
  await expect(refresh(after, first)).rejects.toMatchObject({
    code: 'store_unavailable',
    cause: { code: 'clock_behind', message: expect.stringMatching(/clock is 2 days behind .*: set the clock/) },
  });
  machine.wall += 2 * day;
  expect((await refresh(after, first)).decision).toBe('rotate');
  await after.close();
});

test('T8 nor is one used after a restore that kept the sign-ins, whichever of them came last', async () => {
  useMachine();
  const [from, file] = [newFile(), newFile()];
  const before = open(from);
  await signIn(before);
  pass(3 * day);
  await signIn(before);
  await before.close();
  const raw = new DatabaseSync(from);
  raw.exec("update gateway_credential_sets set id = case rowid when 1 then 'z' else 'a' end");
  raw.close();
  await backUp({ kind: 'sqlite', file: from }, `${file}.backup`);
  await restore({ kind: 'sqlite', file }, `${file}.backup`, { keepSignIns: true });
  machine.wall -= 2 * day;
  const after = open(file);
  await expect(after.probe()).rejects.toMatchObject({ cause: { code: 'clock_behind' } });
  await after.close();
});

test('T14 replicas whose clocks differ take the time from PostgreSQL', async () => {
  const url = await newDatabase();
  const replica = () => openCredentialStore({ kind: 'postgres', url, pool: 3 }, createNodeCryptography());
  const [one, other] = [replica(), replica()];
  const first = await signIn(one);
  const { decision } = await refresh(one, first);
  expect(decision).toBe('rotate');
  const real = Date.now;
  // An honest retry that reaches a replica which is twelve seconds ahead, and one that is half an hour behind.
  for (const skew of [12 * second, day, -30 * minute]) {
    vi.spyOn(Date, 'now').mockImplementation(() => real() + skew);
    expect((await refresh(other, first)).decision).toBe('refused');
    const live = await issue(openProtocol(other), (await one.listAccounts())[0]?.name ?? '');
    for (const store of [one, other]) {
      expect(await openProtocol(store).check(live.auth_token)).toBeDefined();
      expect((await refresh(store, live)).decision).toBe('not-expired');
    }
    vi.restoreAllMocks();
    expect(await openProtocol(one).check(live.auth_token)).toBeDefined();
  }
  await Promise.all([one.close(), other.close()]);
});
