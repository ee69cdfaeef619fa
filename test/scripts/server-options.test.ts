import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { limitTable } from '../../functions/node/limits.ts';
import { readOptions } from '../../scripts/options.ts';
import { hostOptionsOf, readReplica, replicaOptions, serverOptions } from '../../scripts/server-options.ts';
import type { Log } from '../../src/log/log.ts';

const log = {} as Log;
const read = (...argv: string[]) => {
  const values = readOptions({ name: 'serve', summary: '', options: serverOptions }, argv, {});
  return hostOptionsOf(values ?? expect.fail(), log);
};

describe('the flags of a server', () => {
  it('tell it the limits of the table where nothing is given, and that nobody stands before it or reads metrics', () => {
    const { limits, ...told } = read();
    const names = ['connections', 'clientConnections', 'siteConnections', 'clientRequests'] as const;
    for (const name of [...names, 'unreadBytes', 'clientUnreadBytes', 'readerTimeout'] as const) {
      expect(limits[name], name).toBe(limitTable[name].value);
    }
    expect(told).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      rate: 1000,
      answerMemory: 96 * 2 ** 20,
      shutdownDelay: 0,
    });
    expect(told).toMatchObject({ olderAddresses: true, trustedProxies: 0, accessLog: 'off', development: false });
    expect([told.metrics, told.downloadsDatabase]).toEqual([undefined, undefined]);
  });

  it('tell it what an operator chose, a limit of each client with what is measured by it', () => {
    expect(read('--client-connections', '10', '--connections', '20').limits).toMatchObject({
      connections: 20,
      clientConnections: 10,
      siteConnections: 40,
      clientRequests: 10,
    });
    expect(read('--unread-memory', '16', '--reader-timeout', '5').limits).toMatchObject({
      unreadBytes: 16 * 2 ** 20,
      clientUnreadBytes: 6 * 2 ** 20,
      readerTimeout: 5000,
    });
    expect(read('--shutdown-delay', '4')).toMatchObject({ shutdownDelay: 4000 });
    expect(read('--rate-limit', '7', '--answer-memory', '2', '--trusted-proxies', '3')).toMatchObject({
      rate: 7,
      answerMemory: 2 * 2 ** 20,
      trustedProxies: 3,
    });
    expect(read('--no-older-addresses', '--development')).toMatchObject({ olderAddresses: false, development: true });
    expect(read('--host', '::', '--port', '1', '--access-log', 'plain', '--data', '/mine')).toMatchObject({
      host: '::',
      port: 1,
      accessLog: 'plain',
      safetyList: pathToFileURL(path.join('/mine', 'safety.yaml')),
    });
    expect(read('--state', 'a', '--out', 'b', '--downloads-database', 'postgres://c/d')).toMatchObject({
      state: 'a',
      out: 'b',
      downloadsDatabase: 'postgres://c/d',
    });
  });

  it('have metrics read on this machine alone, unless an address is named', () => {
    expect(read('--host', '0.0.0.0', '--metrics-port', '0').metrics).toEqual({ host: '127.0.0.1', port: 0 });
    expect(read('--metrics-host', '10.0.0.1', '--metrics-port', '9').metrics).toEqual({ host: '10.0.0.1', port: 9 });
  });
});

describe('the flags of a replica', () => {
  const readReplicaOf = async (argv: readonly string[], countsTogether = false) => {
    const values = readOptions({ name: 'serve', summary: '', options: replicaOptions }, argv, {}) ?? expect.fail();
    return readReplica(values, { warn: () => {} }, countsTogether);
  };
  const from = ['--from', 'https://index.test'];

  it('have it ask every ten seconds unless told otherwise, and count downloads only where that was asked for', async () => {
    expect(await readReplicaOf([])).toEqual({});
    expect(await readReplicaOf(from)).toMatchObject({
      replica: { from: 'https://index.test', publicKey: undefined, interval: 10_000 },
      countDownloads: false,
    });
    const key = 'A'.repeat(43);
    expect(await readReplicaOf([...from, '--poll-interval', '90s', '--public-key', key])).toMatchObject({
      replica: { publicKey: key, interval: 90_000 },
    });
    expect(await readReplicaOf([...from, '--count-downloads'])).toMatchObject({ countDownloads: true });
    expect(await readReplicaOf(from, true)).toMatchObject({ countDownloads: true });
  });
});
