import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import type { SecurityEvent } from '../../functions/gateway/security-log.ts';
import { type CredentialStore, StoreUnavailable } from '../../functions/gateway/store/credential-store.ts';
import { createOperator, operatedStore } from '../../functions/gateway/workers/operator.ts';
import { remoteStore } from '../../functions/gateway/workers/remote-store.ts';

const operatorKey = 'a-key-of-the-operator-of-enough-characters';

afterEach(() => void vi.restoreAllMocks());

const listen = async (answer: RequestListener): Promise<string> => {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const command = (operation: string, ...parameters: readonly unknown[]) =>
  new Request('https://index.example/v2/operator', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorKey}` },
    body: JSON.stringify({ operation, parameters }),
  });

const openOperator = (store: Partial<CredentialStore>) => {
  const [logged, finished]: [SecurityEvent[], Promise<unknown>[]] = [[], []];
  const answer = createOperator({
    store: store as CredentialStore,
    cryptography: createNodeCryptography(),
    log: (event) => logged.push(event),
    operatorKey,
    finish: (work) => finished.push(work),
  });
  return { answer: (request: Request) => answer(request, '192.0.2.1'), logged, finished };
};

test('T9 a command whose outcome the store did not tell is in the audit all the same, and says so', async () => {
  const lost = () => Promise.reject(new StoreUnavailable(new Error('the object was moved')));
  const { answer, logged } = openOperator({ signOutEverybody: lost, setDisabled: lost, listAccounts: lost });
  for (const request of [command('signOutEverybody'), command('setDisabled', 'alice', true), command('listAccounts')]) {
    expect(await (await answer(request)).json()).toEqual({ unavailable: 'the object was moved' });
  }
  const about = { address: '192.0.2.1', reason: 'unconfirmed' };
  expect(logged).toEqual([
    { event: 'everybody-signed-out', ...about },
    { event: 'account-disabled', name: 'alice', ...about },
  ]);
});

test('T9 a command that changed nothing is no event', async () => {
  const { answer, logged } = openOperator({ removeAccount: async () => false, signOutAccount: async () => undefined });
  expect(await (await answer(command('removeAccount', 'nobody'))).json()).toEqual({ value: false });
  expect(await (await answer(command('signOutAccount', 'nobody'))).json()).toEqual({ value: null });
  expect(logged).toEqual([]);
});

test('T9 a command goes on to its event where the operator has left', async () => {
  const done = Promise.withResolvers<{ devices: number; more: boolean }>();
  const { answer, logged, finished } = openOperator({ signOutEverybody: () => done.promise });
  void answer(command('signOutEverybody'));
  await vi.waitFor(() => expect(finished).toHaveLength(1));
  done.resolve({ devices: 3, more: false });
  await finished[0];
  expect(logged).toEqual([{ event: 'everybody-signed-out', address: '192.0.2.1' }]);
});

test('T9 a command waits five minutes at most, and takes no endless answer', async () => {
  const limits: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((limit) => {
    limits.push(limit);
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('too long')), 50);
    return controller.signal;
  });
  const silent = await listen(() => {});
  await expect(operatedStore(silent, operatorKey).listAccounts()).rejects.toThrow(StoreUnavailable);
  expect(limits).toEqual([300_000]);
  vi.restoreAllMocks();
  const endless = await listen((_, response) => {
    const more = () => {
      while (response.write('x'.repeat(1_000_000)));
      response.once('drain', more);
    };
    more();
  });
  const refused = await operatedStore(endless, operatorKey)
    .listAccounts()
    .catch((error: Error) => error);
  expect(String((refused as Error).cause)).toContain('longer than');
});

test('T9 who shows another key too often is told in whole seconds when to come again', async () => {
  const countAttempts = async () => 1_500;
  const { answer, logged } = openOperator({ countAttempts } as unknown as Partial<CredentialStore>);
  const request = command('listAccounts');
  request.headers.set('authorization', 'Bearer another');
  const { status, headers } = await answer(request);
  expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([429, '2', 'no-store']);
  expect(logged).toEqual([]);
});

test('T9 a command goes to the address that was named, with one slash, and to no other', async () => {
  const asked: unknown[] = [];
  const other = await listen((request, response) => {
    asked.push(request.headers.authorization);
    response.end('{"value":[]}');
  });
  const address = await listen((request, response) => {
    asked.push(request.url);
    response.writeHead(307, { location: other }).end();
  });
  await expect(operatedStore(`${address}//`, operatorKey).listAccounts()).rejects.toThrow(StoreUnavailable);
  expect(asked).toEqual(['/v2/operator']);
});

test('T8 a store that is asked from afar is asked to the end, and for nobody who has left', async () => {
  const finished: Promise<unknown>[] = [];
  const asked: string[] = [];
  const answer = true;
  const store = remoteStore(
    () => ({
      operate: async (name) => {
        asked.push(name);
        return { value: answer };
      },
    }),
    (work) => finished.push(work),
  );
  await store.probe();
  expect(await store.hasAccounts()).toBe(answer);
  await expect(store.whileWanted(AbortSignal.abort()).listAccounts()).rejects.toThrow(StoreUnavailable);
  expect([asked, finished.length]).toEqual([['probe', 'hasAccounts'], 2]);
});
