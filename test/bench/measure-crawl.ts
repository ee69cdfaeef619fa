import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { xzAsync } from 'node-liblzma/wasm';
import { type Compression, DecompressionError, decompress } from '../../src/apt/decompress.ts';
import { type ManifestEntry, manifestEntrySchema } from '../../src/contract/manifest.ts';
import { type CrawlOutcome, crawlAll } from '../../src/crawl/crawl.ts';
import { usualLimits } from '../../src/crawl/crawl-limits.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { lzmaZeros } from '../apt/compressed.ts';
import { generateRepository, makePackages, type RepositoryFiles } from '../support/apt-repository.ts';
import { writeBzip2 } from '../support/bzip2-writer.ts';
import { hostile } from '../support/hostile.ts';
import { OriginServer } from '../support/origin-server.ts';
import { closeOnSignals, Workshop } from './workshop.ts';

// Figures of the crawler: many distant repositories, hostile ones among others, and decompression bombs. This process
// serves all of them on loopback.

const corpus = path.join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus');

interface Crawl {
  readonly outcomes: readonly CrawlOutcome[];
  readonly seconds: number;
}

const crawl = async (entries: readonly ManifestEntry[], folder: string, limits = {}): Promise<Crawl> => {
  const fetcher = createFetcher({ allowPrivateNetworks: ['127.0.0.0/8'] });
  const store = openStore(folder);
  const started = performance.now();
  try {
    const outcomes = await crawlAll(entries, { store, fetcher, now: () => new Date(), limits });
    return { outcomes, seconds: (performance.now() - started) / 1000 };
  } finally {
    await fetcher.close();
  }
};

const describe = (what: string, { outcomes, seconds }: Crawl): string => {
  const requests = outcomes.reduce((sum, outcome) => sum + outcome.requests, 0);
  const kinds = ['fresh', 'unchanged', 'stale', 'failed'] as const;
  const counts = kinds.map((kind) => `${outcomes.filter(({ outcome }) => outcome === kind).length} ${kind}`);
  return `${what.padEnd(28)}${seconds.toFixed(1)} s, ${requests.toLocaleString('en')} requests: ${counts.join(', ')}\n`;
};

const readFolder = (folder: string): RepositoryFiles => {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map((entry) => path.join(entry.parentPath, entry.name));
  return new Map(paths.map((file) => [file.slice(folder.length), readFileSync(file)]));
};

type Served = { readonly entry: Omit<ManifestEntry, 'uri'>; readonly files: RepositoryFiles };

/** The corpus of real repositories if there is one, else generated ones. */
export const readRepositories = async (): Promise<Served[]> => {
  if (!existsSync(corpus)) {
    const files = await generateRepository({ packages: makePackages(40), hashes: [] });
    return Array.from({ length: 46 }, (_, number) => ({ entry: entryOf({ slug: `made${number}` }), files }));
  }
  const list = JSON.parse(readFileSync(path.join(corpus, 'repositories.json'), 'utf8')) as Record<string, string>[];
  return list.map((listed) => ({ entry: entryOf(listed), files: readFolder(path.join(corpus, String(listed.slug))) }));
};

const entryOf = ({ slug, suite, component, binary }: Record<string, string>): ManifestEntry =>
  manifestEntrySchema.parse({
    slug,
    uri: 'http://localhost',
    ranking: 3,
    ...(component ? { suite, component, binary } : {}),
  });

const measureFarAway = async (folder: string): Promise<string> => {
  const repositories = await readRepositories();
  const origins: OriginServer[] = [];
  const entries: ManifestEntry[] = [];
  // As in reality, most repositories have a host of their own.
  for (let number = 0; number < 460; number++) {
    const { entry, files } = repositories[number % repositories.length] as Served;
    const origin = await OriginServer.start(`127.1.${Math.floor(number / 200)}.${1 + (number % 200)}`);
    origin.latencyMs = 100;
    origin.serve('repo', files);
    origins.push(origin);
    entries.push({ ...entry, slug: `${entry.slug}-${number}`.slice(-64).replace(/^-/, ''), uri: origin.uri('repo') });
  }
  const most = () => Math.max(...origins.map(({ greatestOpen }) => greatestOpen));
  const cold = describe('460 repositories, first', await crawl(entries, folder));
  const open = most();
  for (const origin of origins) origin.reset();
  const warm = describe('460 repositories, unchanged', await crawl(entries, folder));
  for (const origin of origins) await origin.stop();
  return `Latency of 100 ms for every answer; at most ${Math.max(open, most())} connections open at any host.\n${cold}${warm}An existing crawler of the same list documents 20,000 requests and nearly an hour.\n`;
};

const measureHostile = async (folder: string): Promise<string> => {
  const good = await OriginServer.start();
  const origins = [good];
  const whole: ManifestEntry[] = [];
  for (let number = 0; number < 180; number++) {
    const slug = `whole${number}`;
    good.serve(slug, await generateRepository({ packages: makePackages(20, `${slug}.`), compressions: ['gz'] }));
    whole.push({ ...entryOf({ slug }), uri: good.uri(slug) });
  }
  const mixed = [...whole];
  for (const [number, [, put]] of hostile.entries()) {
    const origin = await OriginServer.start(`127.2.0.${number + 1}`);
    origins.push(origin);
    await put(origin, 'repo');
    mixed.splice(number * 10, 0, { ...entryOf({ slug: `hostile${number}` }), uri: origin.uri('repo') });
  }
  const alone = await crawl(whole, path.join(folder, 'alone'));
  const together = await crawl(mixed, path.join(folder, 'together'));
  for (const origin of origins) await origin.stop();
  const [slowest] = [...together.outcomes].sort((a, b) => b.seconds - a.seconds);
  const what = hostile[Number(slowest?.slug.slice('hostile'.length))]?.[0];
  return [
    describe('180 repositories alone', alone),
    describe('with 20 hostile ones', together),
    `The slowest, which ${what}, took ${slowest?.seconds.toFixed(1)} s of the ${usualLimits.repositoryMs / 1000} s that one may take.\n`,
  ].join('');
};

const zeroBytes = 10_000_000;
const bombs: Partial<Record<Compression, () => Uint8Array | Promise<Uint8Array>>> = {
  gz: () => gzipSync(Buffer.alloc(zeroBytes)),
  zst: () => zstdCompressSync(Buffer.alloc(zeroBytes)),
  xz: () => xzAsync(Buffer.alloc(zeroBytes)),
  bz2: () => writeBzip2(Buffer.alloc(zeroBytes)),
  lzma: () => lzmaZeros,
};

function* repeat(member: Uint8Array, total: number): Generator<Uint8Array> {
  for (let bytes = 0; bytes < total; bytes += zeroBytes) yield member;
}

/** How long a stream of ten billion zeros takes, and how much memory. */
const measureBombs = async (): Promise<string> => {
  const limits = { maxBytes: usualLimits.textBytes, maxRatio: usualLimits.ratio };
  let text = '';
  for (const [compression, make] of Object.entries(bombs) as [Compression, () => Promise<Uint8Array>][]) {
    const member = await make();
    const before = process.memoryUsage.rss();
    let peak = before;
    let produced = 0;
    let code = 'none';
    const started = performance.now();
    try {
      // An lzma stream has no members, and a single one is enough.
      for await (const chunk of decompress(repeat(member, compression === 'lzma' ? 1 : 10e9), compression, limits)) {
        produced += chunk.length;
        peak = Math.max(peak, process.memoryUsage.rss());
      }
    } catch (error) {
      if (!(error instanceof DecompressionError)) throw error;
      code = error.code;
    }
    const seconds = (performance.now() - started) / 1000;
    text += `10 GB of zeros as ${compression.padEnd(6)}stopped (${code}) after ${seconds.toFixed(2)} s, ${Math.round(produced / 1e6)} MB out, ${Math.round((peak - before) / 1e6)} MB more memory\n`;
  }
  return text;
};

/** Measures the crawler and returns the figures as text. */
export const measureCrawl = async (): Promise<string> => {
  const workshop = new Workshop();
  const { folder } = workshop;
  closeOnSignals(workshop);
  try {
    return [await measureFarAway(folder), await measureHostile(folder), await measureBombs()].join('\n');
  } finally {
    await workshop.close();
  }
};
