import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ManifestEntry } from '../../src/contract/manifest.ts';
import { crawlAll } from '../../src/crawl/crawl.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { createResolver } from '../../src/net/resolver.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { type NameAnswer, NameServer, unknownName } from '../support/name-server.ts';
import { OriginServer } from '../support/origin-server.ts';
import { readRepositories } from './measure-crawl.ts';
import { composeFigures, type Figure, seconds } from './report.ts';
import type { Part } from './workshop.ts';

/** The number of origins of each kind, as in a list of which nobody has checked half for years. */
const counts = { alive: 233, gone: 120, nameless: 30, refusing: 30, mute: 25, unreachable: 25 } as const;
type Kind = keyof typeof counts;
const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
const latencyMs = 100;
const mostSeconds = 60;

const words: Readonly<Record<Kind, string>> = {
  alive: 'that answer',
  gone: 'whose name does not resolve',
  nameless: 'whose name servers never answer',
  refusing: 'that refuse connections',
  mute: 'that take connections and never answer',
  unreachable: 'to which no connection comes about',
};

/** A loopback port where connections are never established, because the queue of unaccepted ones is full. */
const startUnreachable = async (host: string): Promise<{ port: number; stop(): Promise<void> }> => {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const server = require('node:net').createServer();
     server.listen({ host: workerData, port: 0, backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
     });`,
    { eval: true, workerData: host },
  );
  const [port] = (await once(worker, 'message')) as [number];
  const fillers: Socket[] = Array.from({ length: 8 }, () => connect({ host, port }).on('error', () => {}));
  return {
    port,
    stop: async () => {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
};

const kindOf = (name: string): Kind => name.replace(/\d+\.example$/, '') as Kind;

/** Serves all kinds. Returns entries in a mixed order, the same each time. */
const startOrigins = async () => {
  const repositories = await readRepositories();
  const alive: OriginServer[] = [];
  for (let number = 0; number < counts.alive; number++) {
    const origin = await OriginServer.start(`127.5.${Math.floor(number / 200)}.${1 + (number % 200)}`);
    origin.latencyMs = latencyMs;
    origin.serve('repo', repositories[number % repositories.length]?.files ?? new Map());
    alive.push(origin);
  }
  const mute = await OriginServer.start('127.6.0.1');
  for (const file of ['InRelease', 'Release']) mute.break(`/repo/${file}`, { kind: 'silent' });
  const closed = await OriginServer.start('127.6.0.2');
  const refused = closed.port;
  await closed.stop();
  const unreachable = await startUnreachable('127.6.0.3');
  const placeOf = (kind: Kind, number: number): [address: string, port: number] => {
    if (kind === 'alive') return [`127.5.${Math.floor(number / 200)}.${1 + (number % 200)}`, alive[number]?.port ?? 0];
    if (kind === 'mute') return ['127.6.0.1', mute.port];
    if (kind === 'unreachable') return ['127.6.0.3', unreachable.port];
    return ['127.6.0.2', refused];
  };
  const answer = (name: string): NameAnswer => {
    const kind = kindOf(name);
    if (kind === 'gone') return unknownName;
    if (kind === 'nameless') return 'silence';
    // The name server itself answers questions about the root.
    return name === '' ? ['127.0.0.1'] : [placeOf(kind, Number(/\d+/.exec(name)?.[0] ?? 0))[0]];
  };
  const names = await NameServer.start(answer);
  const entries = Object.entries(counts).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, number): ManifestEntry => {
      const [, port] = placeOf(kind as Kind, number);
      const served = repositories[number % repositories.length]?.entry;
      const place = kind === 'alive' && served ? served : { suite: './', ranking: 3, bootstrap: false, aliases: [] };
      return { ...place, slug: `${kind}${number}`, aliases: [], uri: `http://${kind}${number}.example:${port}/repo` };
    }),
  );
  // Mixed, so that each origin has neighbours of every kind.
  const mixed = entries.map((entry, index) => ({ entry, key: (index * 197) % total })).sort((a, b) => a.key - b.key);
  return {
    entries: mixed.map(({ entry }) => entry),
    names,
    stop: async () => {
      await names.stop();
      await unreachable.stop();
      await Promise.all([mute, ...alive].map((origin) => origin.stop()));
    },
  };
};

export const firstRunPart: Part = {
  summary: `the first crawl of ${total} origins at ${latencyMs} ms, half of them dead, in every way there is`,
  run: async (workshop) => {
    const origins = await startOrigins();
    const fetcher = createFetcher({
      allowPrivateNetworks: ['127.0.0.0/8'],
      resolve: createResolver({ servers: [origins.names.address] }),
    });
    try {
      const store = openStore(path.join(workshop.folder, 'first-run'));
      const begun = performance.now();
      const finished = new Map<Kind, number>();
      const outcomes = await crawlAll(origins.entries, {
        store,
        fetcher,
        now: () => new Date(),
        onOutcome: ({ slug }) => {
          finished.set(slug.replace(/\d+$/, '') as Kind, (performance.now() - begun) / 1000);
        },
      });
      const took = (performance.now() - begun) / 1000;
      const figures: Figure[] = (Object.keys(counts) as Kind[]).map((kind) => ({
        figure: 'the last of them was done after',
        input: `${counts[kind]} ${words[kind]}`,
        measured: seconds(finished.get(kind) ?? 0),
      }));
      const whole: Figure = {
        figure: 'all were done after',
        input: `${total} origins, ${latencyMs} ms away`,
        measured: seconds(took),
        target: seconds(mostSeconds),
        met: took <= mostSeconds,
      };
      const codes = new Map<string, number>();
      for (const { outcome, code } of outcomes) {
        const what = code ?? outcome;
        codes.set(what, (codes.get(what) ?? 0) + 1);
      }
      const ends = [...codes].map(([what, count]) => `${count} ${what}`).join(', ');
      return `${composeFigures([whole, ...figures])}\nOutcomes: ${ends}.\n`;
    } finally {
      await fetcher.close();
      await origins.stop();
    }
  },
};
