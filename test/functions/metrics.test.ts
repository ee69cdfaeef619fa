import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CatalogFiles } from '../../functions/node/catalog-files.ts';
import { measureBy } from '../../functions/node/measure-questions.ts';
import { Durations, durationBounds, Meter } from '../../functions/node/meter.ts';
import { startMetricsServer } from '../../functions/node/metrics-server.ts';
import { createRegistry, type Published } from '../../functions/node/prometheus.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { operations } from '../../src/contract/paths.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { patience } from '../support/patience.ts';
import { exchange } from '../support/raw-http.ts';
import { startReplicaServer } from '../support/replica-server.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const opened: TestServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

/** A server that is measured, and what is read of it. */
const start = async (published: Published = {}) => {
  const meter = new Meter();
  const server = await startTestServer({ onAnswered: [meter.observe] });
  opened.push(server);
  const registry = createRegistry({
    meter,
    server,
    published: async () => published,
    now: () => new Date('2026-05-01T12:01:40Z'),
  });
  const read = async () => {
    const text = await registry.metrics();
    const samples = new Map(
      text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    );
    return { text, samples };
  };
  return { server, meter, read };
};

describe('H13 the figures of a server', () => {
  it('tell of requests by operation and status, from memory or not, and never by address', async () => {
    const { server, read } = await start();
    const ask = async (target: string, init?: RequestInit) =>
      (await fetch(server.address + target, init)).arrayBuffer();
    const fromDocuments = async () => (await read()).samples.get('debdex_answers_total{from="documents"}') ?? 0;
    let asked = 0;
    const askForPackage = () => {
      asked++;
      return ask('/v2/jailbreak/package/com.example.one');
    };
    await askForPackage();
    expect(await fromDocuments()).toBe(0);
    // A client that has an answer does not know whether it is kept by then; of those that are, each counts once.
    for (const count of [1, 2]) {
      await vi.waitFor(async () => {
        await askForPackage();
        expect(await fromDocuments()).toBe(count);
      }, patience);
    }
    await ask('/v2/jailbreak/package/search?q=one');
    await ask('/v2/jailbreak/package/search');
    for (let number = 0; number < 20; number++) {
      await ask(`/v2/jailbreak/package/secret-${number}`);
      await ask(`/secret-${number}/`);
      await ask(`/v2/secret-${number}`);
    }
    const { samples, text } = await vi.waitFor(async () => {
      const found = await read();
      expect(found.samples.get('debdex_requests_total{operation="none",status="404"}')).toBe(20);
      return found;
    }, patience);
    const of = (operation: string, status: number) =>
      samples.get(`debdex_requests_total{operation="${operation}",status="${status}"}`);
    expect([of('package', 200), of('package', 404), of('page', 404)]).toEqual([asked, 20, 20]);
    expect([of('packageSearch', 200), of('packageSearch', 400)]).toEqual([1, 1]);
    expect(samples.get('debdex_answers_total{from="documents"}')).toBe(2);
    expect(text).not.toContain('secret');
    const operationLabels = new Set(Array.from(text.matchAll(/operation="([^"]+)"/g), ([, name]) => name));
    for (const name of operationLabels)
      expect([...Object.keys(operations), 'none', 'page', 'document']).toContain(name);
    expect(samples.get('debdex_request_duration_seconds_count{operation="package"}')).toBe(asked + 20);
    expect(samples.get('debdex_request_duration_seconds_bucket{operation="package",le="+Inf"}')).toBe(asked + 20);
    expect(samples.has('process_resident_memory_bytes')).toBe(true);
  });

  it('have each duration in its bucket, and buckets that only grow', () => {
    const durations = new Durations();
    for (const bound of durationBounds) {
      durations.add(bound);
      durations.add(bound + 0.001);
    }
    expect([...durations.counts]).toEqual([1, ...durationBounds.slice(1).map(() => 2), 1]);
  });

  it('tell of the generation and its age, outcomes, limits, faults and the gateway', async () => {
    const generation = { number: 7, date: '2026-05-01T12:00:00Z' };
    const { meter, read, server } = await start({ generation, outcomes: { fresh: 3, failed: 1 } });
    meter.faults = 2;
    meter.countEvent({ time: '', channel: 'security', event: 'sign-in-failed' });
    await exchange(server.port, `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const { samples } = await read();
    expect(Object.fromEntries(samples)).toMatchObject({
      debdex_generation_number: 7,
      debdex_generation_age_seconds: 100,
      'debdex_repositories{outcome="fresh"}': 3,
      'debdex_repositories{outcome="failed"}': 1,
      'debdex_limits_met_total{limit="requestLine"}': 1,
      'debdex_limits_met_total{limit="connections"}': 0,
      'debdex_gateway_events_total{event="sign-in-failed"}': 1,
      debdex_faults_total: 2,
    });
  });

  it('tell of each kind of question to the index how many failed, of the probe of health too, which says why', async () => {
    const state = temporaryFolder();
    mkdirSync(path.dirname(catalogPath(state)), { recursive: true });
    writeFileSync(catalogPath(state), 'no database at all'.repeat(1000));
    const { meter, read } = await start();
    const search = new CatalogFiles(state, measureBy(meter));
    await expect(search.searchPackages('one', 10, 1)).rejects.toThrow(/not a database/);
    await expect(search.older.latest(['one'])).rejects.toThrow(/not a database/);
    await expect(search.probe()).rejects.toThrow(/not a database/);
    const { samples } = await read();
    const failures = [...samples].filter(([name]) => name.startsWith('debdex_index_failures_total'));
    const failed = (kind: string) => [`debdex_index_failures_total{kind="${kind}"}`, 1];
    expect(failures).toEqual(['searchPackages', 'olderLatest', 'probe'].map(failed));
  });

  it('do not hold the server while they are read', async () => {
    const { meter, read } = await start();
    for (const name of Object.keys(operations)) {
      meter.observe({ note: { operation: name }, outgoing: { statusCode: 200 }, milliseconds: 1 } as never);
    }
    await read();
    const before = process.cpuUsage();
    for (let number = 0; number < 20; number++) await read();
    const { user, system } = process.cpuUsage(before);
    // Far above what one takes, and as far below what would be felt.
    expect((user + system) / 1000 / 20).toBeLessThan(20);
  });

  it('are read of a replica too, at an address of their own, and not at that of the API', async () => {
    const publication = new BuiltPublication();
    await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.p0' }) }]);
    const origin = await new FileOrigin(publication.folder).open();
    const replica = await startReplicaServer(origin.address, { metrics: { host: '127.0.0.1', port: 0 } });
    await replica.until(1);
    await replica.get('/v2/jailbreak/package/search?q=exam');
    const read = async () => (await fetch(`http://127.0.0.1:${replica.metricsPort}/metrics`)).text();
    await vi.waitFor(async () => expect(await read()).toMatch(/^debdex_generation_number 1$/m), patience);
    // Confirmed a moment after it is in force.
    await vi.waitFor(async () => expect(await read()).toMatch(/^debdex_replica_confirmed_age_seconds /m), patience);
    const text = await read();
    expect(text).toMatch(/^debdex_index_question_duration_seconds_count\{kind="searchPackages"\} [1-9]/m);
    expect((await replica.get('/metrics')).status).not.toBe(200);
    const taken = startReplicaServer(origin.address, {
      metrics: { host: '127.0.0.1', port: replica.metricsPort ?? 0 },
    });
    await expect(taken).rejects.toThrow(/Cannot listen on .*127\.0\.0\.1:\d+.*--metrics-port/);
    await replica.close();
    await origin.close();
  });
});

describe('H13 where figures are read', () => {
  const serve = async (read: () => Promise<string> = async () => 'figures\n') => {
    const faults: unknown[] = [];
    const address = { host: '127.0.0.1', port: 0 };
    const server = await startMetricsServer(address, {
      contentType: 'text/plain; version=0.0.4',
      read,
      report: (error) => faults.push(error),
    });
    onTestFinished(() => server.close());
    return { port: server.port, address: `http://127.0.0.1:${server.port}`, faults };
  };

  it('answers GET and HEAD of one address, and nothing else', async () => {
    const { address } = await serve();
    const answer = await fetch(`${address}/metrics?x`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4']);
    expect(await answer.text()).toBe('figures\n');
    expect(await (await fetch(`${address}/metrics`, { method: 'HEAD' })).text()).toBe('');
    expect((await fetch(`${address}/`)).status).toBe(404);
    const posted = await fetch(`${address}/metrics`, { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('reads once for all who ask at once, and says that it could not', async () => {
    // A reading is kept for a quarter of a second, which may pass between requests where the machine is busy.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => clock.mockRestore());
    let reads = 0;
    const { address } = await serve(async () => `${++reads}`);
    await Promise.all(Array.from({ length: 8 }, async () => (await fetch(`${address}/metrics`)).text()));
    expect(reads).toBe(1);
    const broken = await serve(() => Promise.reject(new Error('secret reason')));
    const answer = await fetch(`${broken.address}/metrics`);
    expect([answer.status, await answer.text()]).toEqual([500, 'The figures cannot be read\n']);
    expect(broken.faults).toHaveLength(1);
  });

  it('holds a few connections and no more', async () => {
    const { port } = await serve();
    const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const closed = new Set<unknown>();
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.on('close', () => closed.add(socket));
    }
    await vi.waitFor(() => expect(closed.size).toBe(12), patience);
  });

  it('says where it cannot listen', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const read = async () => '';
    await expect(
      startMetricsServer({ host: '127.0.0.1', port }, { contentType: '', read, report: () => {} }),
    ).rejects.toThrow(/EADDRINUSE/);
    taken.close();
  });
});
