import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { readGatewayConfiguration } from '../../functions/gateway/configuration.ts';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { createNodePasswords } from '../../functions/gateway/node/node-passwords.ts';
import { openGateway } from '../../functions/gateway/node/open-gateway.ts';
import type { CredentialStore } from '../../functions/gateway/store/credential-store.ts';
import { clientAddress } from '../../functions/http/client-address.ts';
import { patience } from './patience.ts';
import { openTestedObject } from './tested-object.ts';

/** The weakest scrypt: tests of the protocol need many sign-ins, not strong passwords. */
export const weakCost = { n: 2 ** 4, r: 8, p: 1 };
export const password = 'correct horse battery staple';

/** Reads a configuration from environment variables with the names of its settings. */
export const readTestConfiguration = ({
  PUBLIC_ADDRESS,
  STATE_DIR,
  OBJECT_STORE: _,
  ...environment
}: NodeJS.ProcessEnv) =>
  // A single client asks for many sign-ins.
  readGatewayConfiguration(
    { GATEWAY_SIGN_IN_RATE: '0', ...environment },
    {
      publicAddress: PUBLIC_ADDRESS ?? 'http://localhost:8080',
      state: STATE_DIR ?? 'state',
    },
  );

/** The store in the object that the environment names, instead of one of Node's. */
export const testedObject = ({ OBJECT_STORE }: NodeJS.ProcessEnv, clock: () => number) =>
  OBJECT_STORE === undefined ? undefined : openTestedObject(OBJECT_STORE, clock);

/**
 * Serves on a free port of loopback, and passes the client's address to the application as the project's server does.
 */
export const listen = (fetch: (request: Request, bindings: object) => Response | Promise<Response>, proxies = 0) =>
  serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, { incoming }) => {
      const forwardedFor = request.headers.get('x-forwarded-for') ?? undefined;
      return fetch(request, {
        clientAddress: clientAddress(incoming.socket.remoteAddress ?? '', forwardedFor, proxies),
      });
    },
  });

/** A gateway that listens on loopback, with a clock that only the test moves. */
export type TestGateway = Awaited<ReturnType<typeof startGateway>>;

export const startGateway = async (
  environment: Readonly<Record<string, string>> = {},
  { now: start = Date.UTC(2026, 0, 1), passwordCost = weakCost } = {},
) => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  const log: string[] = [];
  const reasons: string[] = [];
  let now = start;
  let app = new Hono();
  const server = listen((request, bindings) => app.fetch(request, bindings), Number(environment.TRUSTED_PROXIES ?? 0));
  await new Promise((resolve) => server.once('listening', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const configuration = readTestConfiguration({ PUBLIC_ADDRESS: base, STATE_DIR: folder, ...environment });
  const gateway = openGateway(configuration, {
    tell: (event) => log.push(`${JSON.stringify(event)}\n`),
    clock: () => now,
    passwordCost,
    store: testedObject(environment, () => now),
  });
  app = new Hono().route('/v2', gateway.routes);
  return {
    base,
    folder,
    store: gateway.store,
    /** Whether the store reads and writes at the moment. */
    health: () =>
      gateway.probe().catch((error: Error) => {
        reasons.push(error.message);
        return false;
      }),
    /** Why it did not. */
    reasons,
    /** Resolves, when the server receives the next request, to a promise of the end of its connection. */
    nextRequest: async () => {
      const [{ socket }]: [IncomingMessage] = (await once(server, 'request')) as [IncomingMessage];
      return { closed: once(socket, 'close') };
    },
    /** The lines of the security log so far. */
    log,
    now: () => now,
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
      await gateway.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/**
 * Waits until a store is open: it opens at its first operation, for which a busy machine may take longer than an operation
 * may.
 */
export const untilOpen = async (store: CredentialStore) => {
  const deadline = performance.now() + patience.timeout;
  for (;;) {
    try {
      return void (await store.listAccounts());
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(patience.interval);
    }
  }
};

/** Adds an account with the password that all test accounts have. */
export const addAccount = async (store: CredentialStore, name: string) => {
  await untilOpen(store);
  const id = createNodeCryptography().randomId();
  const passwordHash = await createNodePasswords(1, weakCost).hash(password);
  if (!(await store.addAccount({ id, name, displayName: name, passwordHash }))) throw new Error('taken');
  return id;
};

/** Sends a JSON body. */
export const post = (
  address: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
) =>
  fetch(address, {
    signal,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    redirect: 'manual',
  });

/** The body of an answer: in the protocol always a JSON object. */
export const readJson = async (response: Response): Promise<Record<string, string>> =>
  JSON.parse(await response.text());
