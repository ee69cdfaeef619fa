import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { beginWait, boundBy, inTurn, transactSqlite } from '../../functions/gateway/store/databases.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { openSqlite } from '../../functions/gateway/store/sqlite.ts';
import { createGate } from '../../functions/http/gate.ts';

/** A piece of work that ends when it is told to, waited for by a client that may leave. */
const waitFor = () => {
  const client = new AbortController();
  const wait = beginWait(client.signal);
  const work = Promise.withResolvers<string>();
  const result = boundBy(wait, work.promise).finally(wait.end);
  return { client, wait, work, result };
};

describe('T14 the wait for work of the store', () => {
  it('is over when the client leaves, whatever the work comes to', async () => {
    const { client, wait, work, result } = waitFor();
    client.abort();
    await expect(result).rejects.toThrow('the client has left');
    expect(() => wait.assertWanted()).toThrow('the client has left');
    work.resolve('done');
  });

  it('goes on to the answer of a commit that is under way, which can no longer be left undone', async () => {
    for (const end of ['resolve', 'reject'] as const) {
      const { client, wait, work, result } = waitFor();
      wait.committing = true;
      client.abort();
      work[end](end as never);
      await expect(result.catch((reason: unknown) => reason)).resolves.toBe(end);
    }
  });

  it('is over for a transaction on SQLite whose client leaves at the last moment before it', async () => {
    const { write, close } = openSqlite(':memory:');
    onTestFinished(close);
    const client = new AbortController();
    const wait = beginWait(client.signal);
    onTestFinished(wait.end);
    let done = 0;
    const transaction = transactSqlite(write, wait, async () => done++);
    // It has the connection and lets others have their turn.
    for (let turn = 0; turn < 100; turn++) await null;
    client.abort();
    await expect(transaction).rejects.toThrow('the client has left');
    expect(done).toBe(0);
  });

  it('is over for the work when it is over for whoever waits, though the timer that ends it may be early', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const wait = beginWait();
    onTestFinished(wait.end);
    const { signal } = wait;
    wait.assertWanted();
    vi.advanceTimersByTime(5_000);
    expect(signal.aborted).toBe(true);
    expect(() => wait.assertWanted()).toThrow('not done within 5000 ms');
  });

  it('is over at once for a client that had left before', async () => {
    const client = new AbortController();
    client.abort();
    const wait = beginWait(client.signal);
    await expect(boundBy(wait, new Promise(() => {})).finally(wait.end)).rejects.toThrow('the client has left');
  });
});

describe('T13 writes of strangers and all others', () => {
  /** Writes that end when they are told to, in the order in which they began. */
  const queue = () => {
    const turns = createGate(1);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const write = (name: string, isStrangers: boolean) => {
      const client = new AbortController();
      const wait = beginWait(client.signal);
      const result = inTurn(turns, wait, isStrangers, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      }).finally(wait.end);
      return { client, result };
    };
    return { begun, ends, write };
  };

  it('take turns, so that any number of strangers delays another one by a single write', async () => {
    const { begun, ends, write } = queue();
    const strangers = ['a', 'b', 'c', 'd'].map((name) => write(name, true));
    const others = ['X', 'Y'].map((name) => write(name, false));
    const order = ['a', 'b', 'X', 'c', 'Y', 'd'];
    for (const name of order) {
      await expect.poll(() => begun.at(-1)).toBe(name);
      ends.get(name)?.();
    }
    expect(await Promise.all([...strangers, ...others].map(({ result }) => result))).toHaveLength(6);
    expect(begun).toEqual(order);
  });

  it('leave the line when nobody waits for them any more, and are not done', async () => {
    const { begun, ends, write } = queue();
    const [first, second, third] = [write('a', true), write('b', false), write('c', true)];
    second.client.abort();
    await expect(second.result).rejects.toThrow('the client has left');
    ends.get('a')?.();
    await expect.poll(() => begun).toEqual(['a', 'c']);
    ends.get('c')?.();
    expect(await Promise.all([first.result, third.result])).toEqual(['a', 'c']);
  });

  it('are told apart by what they write', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'turns-'));
    const file = path.join(folder, 'gateway.sqlite');
    const { sha256 } = createNodeCryptography();
    const store = openCredentialStore({ kind: 'sqlite', file }, createNodeCryptography());
    onTestFinished(async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    });
    const id = createNodeCryptography().randomId();
    await store.addAccount({ id, name: 'alice', displayName: 'alice', passwordHash: '' });
    const elsewhere = new DatabaseSync(file);
    elsewhere.exec('BEGIN IMMEDIATE');
    // That a browser leaves that is not known is not written at all.
    await store.removeBrowser(sha256('nobody'));
    const done: string[] = [];
    const note = async (what: string, work: Promise<unknown>) => {
      await work;
      done.push(what);
    };
    const count = (name: string) => [{ keyHash: sha256(name), most: 5, window: 60_000 }];
    const request = { callback: 'a:b', application: '', model: '', maskedUdid: '', udidHash: sha256('u') };
    const writes = [
      ...[1, 2, 3].map((one) => note('stranger', store.countAttempts(count(`s${one}`), true))),
      note('stranger', store.addSignInRequest(sha256('h'), request, 60_000)),
      note('stranger', store.returnAttempts([sha256('s1')], true)),
      ...[1, 2].map((one) => note('known', store.countAttempts(count(`k${one}`)))),
      note('known', store.returnAttempts([sha256('k1')])),
      note('known', store.addBrowser({ tokenHash: sha256('b'), accountId: id, sessionLife: 1000, life: 1000 })),
    ];
    elsewhere.exec('ROLLBACK');
    elsewhere.close();
    await Promise.all(writes);
    const [first, ...rest] = done;
    expect(first).toBe('stranger');
    expect(rest).toEqual(['stranger', 'known', 'stranger', 'known', 'stranger', 'known', 'stranger', 'known']);
  });
});
