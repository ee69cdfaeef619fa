import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LockedError, lockState } from '../../src/catalog/lock.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { temporaryFolder } from '../support/folder.ts';

const source = path.join(import.meta.dirname, '..', '..', 'src', 'catalog', 'lock.ts');

let state: string;
let holder: ChildProcess | undefined;

beforeEach(() => {
  state = temporaryFolder();
});
afterEach(() => {
  holder?.kill('SIGKILL');
  holder = undefined;
});

/** Starts a process that holds the lock until it is killed. */
const hold = async (): Promise<ChildProcess> => {
  const text = `const { lockState } = await import(${JSON.stringify(source)});
    lockState(${JSON.stringify(state)}); process.stdout.write('held'); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
  holder = child;
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
};

const note = (pid: number, since = '2020-01-01T00:00:00.000Z'): void =>
  writeFileSync(path.join(state, 'build.lock.json'), JSON.stringify({ pid, host: os.hostname(), since }));

describe('the lock of a state folder', () => {
  it('C12: names the process that holds it, and since when; where that was killed, or a restart of the machine left it, it is taken over, even if another process has its id now', async () => {
    const child = await hold();
    const { since } = JSON.parse(readFileSync(path.join(state, 'build.lock.json'), 'utf8')) as { since: string };
    expect(() => lockState(state)).toThrow(LockedError);
    expect(() => lockState(state)).toThrow(`(process ${child.pid}, since ${since})`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const left = path.join(temporaryFolder(), 'left');
    cpSync(state, left, { recursive: true });
    lockState(state)();
    state = left;
    // This process lives, and never took it.
    note(process.pid);
    expect(existsSync(path.join(state, 'build.lock'))).toBe(true);
    const unlock = lockState(state);
    expect(readFileSync(path.join(state, 'build.lock.json'), 'utf8')).not.toContain('2020-01-01');
    unlock();
  });

  it('C12: tells why its file cannot be opened', () => {
    mkdirSync(path.join(state, 'build.lock'));
    expect(() => lockState(state)).toThrow(expect.objectContaining({ code: 'EISDIR' }));
  });

  it.each(['build.lock', 'build.lock.json'])('C12: names what is no file in the place of %s', (name) => {
    // As a pipe would be, which to open waits for ever.
    symlinkSync('/dev/null', path.join(state, name));
    expect(() => lockState(state)).toThrow(
      `no regular file is in the place of the file ${name}, open '${state}/${name}'`,
    );
  });

  it('C12: is had by one of two that take it in the same moment, and never by none', async () => {
    // Each tries at the moment that it is told, and tells how that went; it lets go when it is told the next one.
    const text = `const { lockState } = await import(${JSON.stringify(source)});
      let unlock;
      process.on('message', (moment) => {
        unlock?.();
        unlock = undefined;
        while (Date.now() < moment);
        try { unlock = lockState(${JSON.stringify(state)}); } catch (error) { if (error.name !== 'LockedError') throw error; }
        process.send(unlock !== undefined);
      });
      process.send('ready');`;
    const flags = ['--input-type=module', '-e', text];
    const rivals = [0, 1].map(() => spawn(process.execPath, flags, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
    const hear = () => Promise.all(rivals.map(async (rival) => (await once(rival, 'message'))[0] as unknown));
    try {
      await hear();
      for (let round = 0; round < 5; round++) {
        const heard = hear();
        for (const rival of rivals) rival.send(Date.now() + 20);
        expect((await heard).filter((held) => held === true)).toHaveLength(1);
      }
    } finally {
      for (const rival of rivals) rival.kill('SIGKILL');
    }
  });

  it('C12: is waited for where another has it for a moment only', async () => {
    const turn = new Int32Array(new SharedArrayBuffer(4));
    // It lets go ten milliseconds after it was told that this thread is about to take the lock.
    const text = `const { parentPort, workerData } = require('node:worker_threads');
      import(${JSON.stringify(source)}).then(({ lockState }) => {
        const unlock = lockState(${JSON.stringify(state)});
        parentPort.postMessage('held');
        Atomics.wait(workerData, 0, 0);
        Atomics.wait(workerData, 0, 1, 10);
        unlock();
      });`;
    const other = new Worker(text, { eval: true, execArgv: [], workerData: turn });
    const ended = once(other, 'exit');
    await once(other, 'message');
    Atomics.store(turn, 0, 1);
    Atomics.notify(turn, 0);
    lockState(state)();
    await ended;
  });

  it('C12: is taken although a power failure left other bytes in its file, and then keeps others out', () => {
    writeFileSync(path.join(state, 'build.lock'), 'left behind '.repeat(1000));
    const unlock = lockState(state);
    expect(() => lockState(state)).toThrow(LockedError);
    unlock();
    lockState(state)();
  });

  it('C12: that cannot be taken for another reason says that reason, and names no other build', () => {
    mkdirSync(path.join(state, 'build.lock'));
    let refusal: unknown;
    try {
      lockState(state);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(Error);
    expect(refusal).not.toBeInstanceOf(LockedError);
  });

  it('C12: that cannot be taken on a full disk is refused as the system refuses it', () => {
    const sqlite = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    const exec = vi.spyOn(CatalogFile.prototype, 'exec').mockImplementation(() => {
      throw sqlite;
    });
    try {
      expect(() => lockState(state)).toThrow(
        expect.objectContaining({ code: 'ENOSPC', syscall: 'lock', cause: sqlite }),
      );
    } finally {
      exec.mockRestore();
    }
    lockState(state)();
  });
});
