import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openAuditFile } from '../../functions/gateway/node/audit-file.ts';
import { openGateway } from '../../functions/gateway/node/open-gateway.ts';
import { createSecurityLog, type SecurityEvent } from '../../functions/gateway/security-log.ts';
import { temporaryFolder } from '../support/folder.ts';
import {
  addAccount,
  post,
  readTestConfiguration,
  startGateway,
  type TestGateway,
  weakCost,
} from '../support/gateway-session.ts';
import { issue, openProtocol } from '../support/issue.ts';
import { signIn } from '../support/package-manager.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';
import { describeEveryStore } from '../support/stores.ts';

const hour = 3_600_000;

const readAudit = (gateway: TestGateway) =>
  readFileSync(join(gateway.folder, 'gateway-audit.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('T9 the audit log has who signed in, was refused, came back and was signed out, and nothing secret', async () => {
  const gateway = await startGateway();
  const account = await addAccount(gateway.store, 'alice');
  const first = await signIn(gateway.base, 'alice');
  gateway.advance(hour);
  const send = async (path: string, body: unknown) => (await post(`${gateway.base}/v2/${path}`, body)).status;
  expect(await send('refresh', { ...first, payment_secret: 'wrong' })).toBe(401);
  // What nobody was ever given says nothing about anybody.
  expect(await send('refresh', { auth_token: 'a', payment_secret: 'b', refresh_token: 'c' })).toBe(401);
  expect(await send('refresh', first)).toBe(200);
  gateway.advance(hour);
  expect(await send('refresh', first)).toBe(401);
  const other = await signIn(gateway.base, 'alice');
  expect(await send('revoke', { ...other, auth_token: first.auth_token })).toBe(401);
  expect(await send('revoke', other)).toBe(200);
  await gateway.store.setDisabled('alice', true);
  expect(await send('introspect', {})).toBe(404);
  const { folder } = gateway;
  await expect.poll(() => readAudit(gateway).length).toBe(6);
  const events = readAudit(gateway);
  expect(events.map(({ event }) => event)).toEqual([
    'sign-in',
    'refresh-refused',
    'reuse-detected',
    'sign-in',
    'revoke-refused',
    'revoked',
  ]);
  const [one, ...more] = events;
  expect(one).toEqual({
    time: new Date(gateway.now() - 2 * hour).toISOString(),
    channel: 'audit',
    event: 'sign-in',
    account,
    address: '127.0.0.1',
    family: expect.any(String),
  });
  for (const event of more.slice(0, 2)) expect(event).toMatchObject({ account, family: one.family });
  expect(statSync(join(folder, 'gateway-audit.jsonl')).mode & 0o077).toBe(0);
  await gateway.close();
});

describeEveryStore('T12 the log', (newStore) => {
  test('is not filled by one sign-in that repeats itself, from whatever addresses', async () => {
    const gateway = await startGateway({ ...(await newStore()), TRUSTED_PROXIES: '1' });
    const account = await addAccount(gateway.store, 'alice');
    const [one, other] = [await signIn(gateway.base, 'alice'), await signIn(gateway.base, 'alice')];
    gateway.advance(hour);
    const before = gateway.log.length;
    for (let time = 0; time < 12; time++) {
      const send = (path: string, body: unknown) =>
        post(`${gateway.base}/v2/${path}`, body, { 'x-forwarded-for': `2001:db8::${time}` });
      await send('refresh', { ...one, payment_secret: 'wrong' });
      await send('revoke', { ...one, auth_token: other.auth_token });
      await send('revoke', { ...one, refresh_token: 'wrong' });
    }
    for (let time = 0; time < 12; time++) await post(`${gateway.base}/v2/revoke`, other);
    const [first, second] = gateway.log.slice(0, before).map((line) => JSON.parse(line).family);
    expect(gateway.log.slice(before).map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: 'refresh-refused', account, family: first }),
      expect.objectContaining({ event: 'revoke-refused', account, family: second, address: '2001:db8::' }),
      expect.objectContaining({ event: 'revoke-refused', account, family: first, address: '2001:db8::' }),
      expect.objectContaining({ event: 'revoked', account, family: second }),
    ]);
    await gateway.close();
  });
});

test('T12 the log tells a repetition from something else, and forgets it after ten minutes', () => {
  let now = 0;
  const lines: string[] = [];
  const audited: string[] = [];
  const log = createSecurityLog(
    { tell: ({ event }) => lines.push(event), audit: (line) => audited.push(line) },
    () => now,
  );
  const told = (event: SecurityEvent) => {
    const before = lines.length;
    log(event);
    return lines.length > before;
  };
  expect(told({ event: 'refresh-refused', family: 'a' })).toBe(true);
  expect(told({ event: 'refresh-refused', family: 'a' })).toBe(false);
  expect(told({ event: 'refresh-refused', family: 'b' })).toBe(true);
  expect(told({ event: 'revoked', family: 'a' })).toBe(true);
  expect(told({ event: 'revoked', family: 'a', reason: 'devices page' })).toBe(true);
  for (let time = 0; time < 2; time++) {
    expect(told({ event: 'sign-in', family: 'a' })).toBe(true);
    expect(told({ event: 'revoke-refused' })).toBe(true);
    expect(told({ event: 'sign-in-failed' })).toBe(true);
  }
  now = 10 * 60_000 - 1;
  expect(told({ event: 'refresh-refused', family: 'a' })).toBe(false);
  now++;
  expect(told({ event: 'refresh-refused', family: 'a' })).toBe(true);
  // A clock that was set back silences nothing.
  now = 1;
  expect(told({ event: 'refresh-refused', family: 'a' })).toBe(true);
  expect(audited).toHaveLength(lines.length - 2);
});

test('T12 nobody fills the log by signing in to their own account, and no stranger keeps a sign-in out of it', () => {
  let now = 0;
  const audited: SecurityEvent[] = [];
  const told: string[] = [];
  const log = createSecurityLog(
    { tell: ({ event }) => told.push(event), audit: (line) => audited.push(JSON.parse(line)) },
    () => now,
  );
  const signInOften = (account: string) => {
    const before = audited.length;
    for (let time = 0; time < 500; time++) log({ event: 'sign-in', account, family: `${account} ${now} ${time}` });
    return audited.slice(before).map(({ reason }) => reason);
  };
  const most = [...Array(49).fill(undefined), 'more are left out'];
  expect(signInOften('alice')).toEqual(most);
  // Another account, and another kind of line, have their own number.
  expect(signInOften('bob')).toEqual(most);
  log({ event: 'reuse-detected', account: 'alice', family: 'a' });
  expect(audited.at(-1)).toMatchObject({ event: 'reuse-detected' });
  now = 10 * 60_000;
  for (let time = 0; time < 500; time++) log({ event: 'sign-in-failed', account: 'alice' });
  expect(told.filter((event) => event === 'sign-in-failed')).toHaveLength(500);
  expect(signInOften('alice')).toEqual(most);
  // A clock that was set back silences nothing, and of very many accounts the oldest are forgotten.
  now = 1;
  expect(signInOften('alice')).toEqual(most);
  for (let other = 0; other < 10_000; other++) log({ event: 'sign-in', account: `${other}` });
  expect(signInOften('alice')).toEqual(most);
});

test('T9 a sign-in does not fail where the audit log cannot be written, and the security log says so', async () => {
  const gateway = await startGateway();
  await addAccount(gateway.store, 'alice');
  mkdirSync(join(gateway.folder, 'gateway-audit.jsonl'));
  await signIn(gateway.base, 'alice');
  await expect.poll(() => gateway.log.join('')).toContain('the audit log cannot be written');
  await gateway.close();
});

test('T9 a gateway that is closed has written what it did to the audit log', async () => {
  const folder = temporaryFolder();
  const gateway = openGateway(readTestConfiguration({ STATE_DIR: folder }), { tell: () => {}, passwordCost: weakCost });
  const account = await addAccount(gateway.store, 'alice');
  const sets = await Promise.all(Array.from({ length: 20 }, () => issue(openProtocol(gateway.store), account)));
  const headers = { 'Content-Type': 'application/json' };
  for (const set of sets) {
    const request = { method: 'POST', headers, body: JSON.stringify(set) };
    const answer = await gateway.routes.request('/revoke', request, { clientAddress: '192.0.2.1' });
    expect(answer.status).toBe(200);
  }
  await gateway.close();
  expect(readFileSync(join(folder, 'gateway-audit.jsonl'), 'utf8').split('\n')).toHaveLength(20 + 1);
});

test('T12 the audit log turns over and keeps a few old files; no line is lost to several writers', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'new', 'audit.jsonl');
  const writers = [1, 2, 3].map(() => openAuditFile(file, { bytes: 1_000_000, kept: 2 }));
  const line = (number: number) => `${JSON.stringify({ number })}\n`;
  await Promise.all(Array.from({ length: 300 }, (_, number) => writers[number % 3]?.write(line(number))));
  const numbers = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text).number);
  expect(numbers.sort((one, other) => one - other)).toEqual(Array.from({ length: 300 }, (_, number) => number));

  const small = openAuditFile(join(folder, 'small.jsonl'), { bytes: 100, kept: 2 });
  for (let number = 0; number < 100; number++) await small.write(line(number));
  const files = readdirSync(folder)
    .filter((name) => name.startsWith('small'))
    .sort();
  expect(files).toEqual(['small.jsonl', 'small.jsonl.1', 'small.jsonl.2']);
  for (const name of files) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(100);
  expect(readFileSync(join(folder, 'small.jsonl'), 'utf8')).toContain('"number":99}');
  const kept = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
  expect(kept.map((text) => JSON.parse(text).number).sort((one, other) => one - other)).toEqual(
    Array.from({ length: kept.length }, (_, index) => 100 - kept.length + index),
  );
});

describe('an audit log that another process turns over at the same moment', () => {
  const { open, rename } = fs;
  let beforeMoving = async () => {};
  let beforeMarking = async () => {};
  const openHeld: typeof open = async (name, ...more) => {
    const meanwhile = beforeMarking;
    if (String(name).endsWith('.turning')) {
      beforeMarking = async () => {};
      await meanwhile();
    }
    return open(name, ...more);
  };
  const renameHeld: typeof rename = async (from, to) => {
    const meanwhile = beforeMoving;
    beforeMoving = async () => {};
    await meanwhile();
    await rename(from, to);
  };
  replaceFunctions(fs, { open: openHeld, rename: renameHeld });
  const line = (number: number) => `{"number":${number}}\n`;

  test('T12 loses no file to it', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'audit.jsonl');
    writeFileSync(file, line(1));
    const [one, other] = [1, 2].map(() => openAuditFile(file, { bytes: 20, kept: 1 }));
    beforeMoving = async () => other?.write(line(2));
    await one?.write(line(3));
    expect(readFileSync(`${file}.1`, 'utf8')).toBe(line(1) + line(2));
    expect(readFileSync(file, 'utf8')).toBe(line(3));
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test('T12 is not turned over once more after it', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'audit.jsonl');
    writeFileSync(file, line(1) + line(2));
    const [one, other] = [1, 2].map(() => openAuditFile(file, { bytes: 30, kept: 1 }));
    beforeMarking = async () => other?.write(line(3));
    await one?.write(line(4));
    expect(readFileSync(`${file}.1`, 'utf8')).toBe(line(1) + line(2));
    expect(readFileSync(file, 'utf8')).toBe(line(3) + line(4));
  });

  // Whose clock may have been ahead.
  test.each([0, 4e9])('T12 is turned over after one that was killed while it did, at second %d', async (second) => {
    const folder = temporaryFolder();
    const file = join(folder, 'audit.jsonl');
    const mark = `${file}.turning`;
    const audit = openAuditFile(file, { bytes: 20, kept: 1 });
    writeFileSync(mark, '');
    utimesSync(mark, second, second);
    for (const number of [1, 2, 3]) await audit.write(line(number));
    expect(readFileSync(`${file}.1`, 'utf8')).toBe(line(1) + line(2));
    expect(readFileSync(file, 'utf8')).toBe(line(3));
    expect(readdirSync(folder)).toHaveLength(2);
  });
});

test('T12 of the audit log 16 MiB and four old files are kept', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'audit.jsonl');
  const audit = openAuditFile(file);
  const line = '{"event":"revoked"}\n';
  for (let time = 0; time < 6; time++) {
    await audit.write(line);
    truncateSync(file, 16 * 2 ** 20 - 2 * line.length);
    writeFileSync(file, line, { flag: 'a' });
    // It just has room.
    await audit.write(line);
    expect(statSync(file).size).toBe(16 * 2 ** 20);
  }
  expect(readdirSync(folder).sort()).toEqual(['', '.1', '.2', '.3', '.4'].map((ending) => `audit.jsonl${ending}`));
});

test('T9 a line of the audit log that was cut short, as by a full disk, takes no other along', async () => {
  const file = join(temporaryFolder(), 'audit.jsonl');
  const audit = openAuditFile(file);
  await audit.write('{"number":1}\n');
  writeFileSync(file, '{"num', { flag: 'a' });
  await audit.write('{"number":2}\n');
  await audit.write('{"number":3}\n');
  expect(readFileSync(file, 'utf8')).toBe('{"number":1}\n{"num\n{"number":2}\n{"number":3}\n');
});

describe('a line of the audit log that another process has written half of', () => {
  const { open } = fs;
  let afterReading = () => {};
  const openHeld: typeof open = async (...parameters) => {
    const handle = await open(...parameters);
    const read = handle.read.bind(handle) as (...how: unknown[]) => Promise<unknown>;
    const readHeld = async (...how: unknown[]) => {
      const found = await read(...how);
      afterReading();
      return found;
    };
    return Object.assign(handle, { read: readHeld as typeof handle.read });
  };
  replaceFunctions(fs, { open: openHeld });

  test('T9 is not cut short: what follows stands on the next line', async () => {
    const file = join(temporaryFolder(), 'audit.jsonl');
    writeFileSync(file, '{"num');
    afterReading = () => {
      afterReading = () => {};
      writeFileSync(file, 'ber":1}\n', { flag: 'a' });
    };
    await openAuditFile(file).write('{"number":2}\n');
    expect(readFileSync(file, 'utf8')).toBe('{"number":1}\n{"number":2}\n');
  });
});

test('T9 more lines of the audit log than may wait for a disk are refused at once', async () => {
  const audit = openAuditFile(join(temporaryFolder(), 'audit.jsonl'));
  const written = await Promise.allSettled(Array.from({ length: 1_001 }, () => audit.write('{}\n')));
  const refused = written.filter(({ status }) => status === 'rejected');
  expect(refused).toEqual([expect.objectContaining({ reason: new Error('the audit log cannot keep up') })]);
  await audit.write('{}\n');
});
