import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { auditCommand } from '../../scripts/accounts/audit.ts';
import { PasswordRefused, readNewPassword } from '../../scripts/accounts/password.ts';
import { formatAccounts } from '../../scripts/accounts/table.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
afterEach(() => {
  Object.defineProperty(process, 'stdin', stdin);
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe('a new password', () => {
  const pipe = (text: string): Promise<string> => {
    Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([text]) });
    return readNewPassword();
  };
  /** Types a line each time that a question is asked; resolves to what the terminal showed as well. */
  const type = async (...lines: string[]) => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => terminal });
    Object.defineProperty(process, 'stdin', { configurable: true, value: terminal });
    let shown = '';
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      shown += text;
      if (/: $/.test(String(text))) setImmediate(() => terminal.write(`${lines.shift()}\r`));
      return true;
    });
    return { password: await readNewPassword(), shown };
  };

  it('T4 has eight characters at least, as people count them, and at most what the sign-in page takes', async () => {
    for (const password of ['😀'.repeat(8), 'eight ch', 'ü'.repeat(1024), '界'.repeat(795)]) {
      expect(await pipe(password)).toBe(password);
    }
    await expect(pipe('😀'.repeat(7))).rejects.toThrow('A password has at least 8 characters.');
    await expect(pipe('sevench')).rejects.toThrow('A password has at least 8 characters.');
    for (const password of ['a '.repeat(513), '😀'.repeat(513), '界'.repeat(796)]) {
      await expect(pipe(password)).rejects.toThrow('A password has at most 1024 characters, and fewer');
    }
  });

  it.each([
    ['a NUL', 'first\0password'],
    ['a tab', 'first\tpassword'],
    ['a byte order mark', '\ufefffirst password'],
    ['what is no UTF-8', Buffer.from('fürst password', 'latin1').toString()],
  ])('T4 with %s is refused, which nobody could type', async (_, password) => {
    await expect(pipe(password)).rejects.toThrow('cannot be typed');
  });

  it('T4 is typed twice at a terminal, which does not show it', async () => {
    expect(await type('first password', 'first password')).toEqual({
      password: 'first password',
      shown: 'Password: \nAgain: \n',
    });
    await expect(type('first password', 'first passwort')).rejects.toThrow(PasswordRefused);
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('is given up by %s, at either question', async (_, key) => {
    await expect(type(key)).rejects.toThrow('Nothing was changed.');
    await expect(type('first password', key)).rejects.toThrow('Nothing was changed.');
  });
});

describe('the audit log of a command', () => {
  it('T9 names who became another user to run it', async () => {
    vi.stubEnv('SUDO_USER', 'carol');
    const state = temporaryFolder();
    await auditCommand({ event: 'everybody-signed-out', devices: 1 }, state);
    expect(JSON.parse(readFileSync(path.join(state, 'gateway-audit.jsonl'), 'utf8'))).toMatchObject({
      event: 'everybody-signed-out',
      operator: 'carol',
    });
  });

  it('T9 says where it could not be written, of what is done all the same', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const state = path.join(temporaryFolder(), 'file');
    writeFileSync(state, '');
    await auditCommand({ event: 'everybody-signed-out', devices: 1 }, state);
    expect(write.mock.calls.join('')).toContain(`Done, but not written to the audit log ${state}`);
    await auditCommand({ event: 'everybody-signed-out', reason: 'unconfirmed' }, state);
    expect(write.mock.lastCall?.join('')).toMatch(/^Not written to the audit log /);
  });
});

it('the commands of the gateway say how they are called, and do nothing, where help is asked for', async () => {
  for (const name of ['accounts', 'gateway']) {
    for (const asked of [['--help'], ['-h'], ['remove', 'alice', '--help']]) {
      const ended = await runScript(name, asked);
      expect(ended, name).toMatchObject({ status: 0, error: '' });
      expect(ended.out).toMatch(new RegExp(`^Usage: npm run ${name} -- COMMAND`));
    }
  }
});

it('a table of accounts shows what providers wrote, and has no terminal obey it', () => {
  const account = { name: 'idp:a\u0007', displayName: '\u001b[2JAda', devices: 2, createdAt: 0, disabledAt: 1 };
  expect(formatAccounts([account, { ...account, name: 'b', displayName: 'b', disabledAt: null }]).split('\n')).toEqual([
    'NAME    DEVICES  ADDED       STATE     SHOWN AS',
    'idp:a?  2        1970-01-01  disabled  ?[2JAda',
    'b       2        1970-01-01',
  ]);
});

it('a table has every account of a large provider', () => {
  const account = { name: 'idp:a', displayName: 'idp:a', devices: 0, createdAt: 0, disabledAt: null };
  expect(formatAccounts(Array(200_000).fill(account)).split('\n')).toHaveLength(200_001);
});
