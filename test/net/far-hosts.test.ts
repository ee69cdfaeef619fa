import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { createFetcher } from '../../src/net/fetcher.ts';

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

it('C6: a host that takes a second to connect to is waited for, also where another address of it is out of reach', async () => {
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
  // Nothing listens there.
  const addresses = ['127.0.0.2', '127.0.0.9'].map((address) => ({ address, family: 4 }));
  const fetcher = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'], resolve: async () => addresses });
  onTestFinished(async () => {
    unsubscribe('net.client.socket', onSocket);
    wake();
    for (const socket of waiting) socket.destroy();
    await fetcher.close();
    await server.terminate();
  });
  const { status, discard } = await fetcher.fetch(new URL(`http://far.example:${port}/`), { maxBytes: 10 });
  expect(status).toBe(200);
  await discard();
});
