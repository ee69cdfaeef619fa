import { describe, expect, it, onTestFinished } from 'vitest';
import { beginWait, boundBy, transactSqlite } from '../../functions/gateway/store/databases.ts';
import { openSqlite } from '../../functions/gateway/store/sqlite.ts';

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

  it('is over at once for a client that had left before', async () => {
    const client = new AbortController();
    client.abort();
    const wait = beginWait(client.signal);
    await expect(boundBy(wait, new Promise(() => {})).finally(wait.end)).rejects.toThrow('the client has left');
  });
});
