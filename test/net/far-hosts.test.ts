import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import dns, { type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createFetcher } from '../../src/net/fetcher.ts';
import { patience } from '../../src/net/guarded-connector.ts';
import { createSender } from '../../src/net/sender.ts';

type LookupAll = (error: null, addresses: readonly LookupAddress[]) => void;

// A server whose thread stands still takes no connections: beyond those that wait for it, the first packet of each is lost.
const farServer = `
const { createServer } = require('node:http');
const { parentPort, workerData: awake } = require('node:worker_threads');
const server = createServer((_, response) => response.end('far'));
server.listen({ port: 0, host: '127.0.0.2', backlog: 1 }, () => parentPort.postMessage(server.address().port));
parentPort.once('message', () => {
  parentPort.postMessage('asleep');
  Atomics.wait(awake, 0, 0);
});`;

/** Asks for something at a port; its host has a far address, and one that nothing listens at. */
type Ask = (port: number) => Promise<number>;

const addresses = ['127.0.0.2', '127.0.0.9'].map((address) => ({ address, family: 4 }));

const askFar: Ask = async (port) => {
  const fetcher = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'], resolve: async () => addresses });
  onTestFinished(() => fetcher.close());
  const { status, discard } = await fetcher.fetch(new URL(`http://far.example:${port}/`), { maxBytes: 10 });
  await discard();
  return status;
};

const askByProxy: Ask = async (port) => {
  const proxies = { http: `http://localhost:${port}`, https: undefined, except: undefined };
  const fetcher = createFetcher({ allowPrivateNetworks: false, proxies });
  onTestFinished(() => fetcher.close());
  const { status, discard } = await fetcher.fetch(new URL('http://repo.example/'), { maxBytes: 10 });
  await discard();
  return status;
};

const send: Ask = async (port) => {
  const sender = createSender({ connections: 1 });
  onTestFinished(() => sender.close());
  const sending = { method: 'GET', path: '/', headers: {}, timeoutMs: 60_000 } as const;
  return (await sender.send({ ...sending, origin: `http://localhost:${port}` })).status;
};

it.each([
  ['asked', askFar],
  ['a proxy', askByProxy],
  ['sent something', send],
] as const)(
  'C6: a host that takes a second to connect to is waited for where it is %s, also where another address of it is out of reach',
  async (_, ask) => {
    const awake = new Int32Array(new SharedArrayBuffer(4));
    const server = new Worker(farServer, { eval: true, workerData: awake });
    const [port] = await once(server, 'message');
    server.postMessage('sleep');
    await once(server, 'message');
    const waiting = Array.from({ length: 8 }, () => connect(port, '127.0.0.2').on('error', () => {}));
    await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, 'connect')));
    for (const socket of waiting.slice(2)) socket.destroy();

    const wake = () => {
      Atomics.store(awake, 0, 1);
      Atomics.notify(awake, 0);
    };
    // Once the first packet is on its way, and lost.
    const onSocket = (message: unknown) =>
      (message as { socket: Socket }).socket.once('connectionAttempt', () => setImmediate(wake));
    subscribe('net.client.socket', onSocket);
    vi.spyOn(dns, 'lookup').mockImplementation(((_name: string, _options: object, callback: LookupAll) =>
      callback(null, addresses)) as unknown as typeof dns.lookup);
    onTestFinished(async () => {
      vi.restoreAllMocks();
      unsubscribe('net.client.socket', onSocket);
      wake();
      for (const socket of waiting) socket.destroy();
      await server.terminate();
    });
    expect(await ask(port)).toBe(200);
  },
);

it('C6: a host of many addresses has the time for each of them', () => {
  expect(patience(10_000, 16).autoSelectFamilyAttemptTimeout).toBe(625);
});
