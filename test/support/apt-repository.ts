import { hash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { xzAsync } from 'node-liblzma/wasm';
import type { Compression } from '../../src/apt/decompress.ts';
import { writeBzip2 } from './bzip2-writer.ts';
import { writeLzma } from './lzma-writer.ts';

/** The files of a repository, by path below its address, each with a leading "/". */
export type RepositoryFiles = Map<string, Uint8Array>;

/** The fields of one stanza, as written. */
export type Fields = Readonly<Record<string, string>>;

/** What to generate. Every field has a default. */
export interface RepositoryPlan {
  /** By default the repository is flat. */
  readonly suite?: { readonly name: string; readonly component: string; readonly architecture: string };
  /** The packages, or the text of the whole index. */
  readonly packages?: readonly Fields[] | string;
  /** Packages for all architectures, which have an index of their own in a suite. */
  readonly all?: readonly Fields[];
  readonly compressions?: readonly Compression[];
  /** Fields of Release; null omits one. */
  readonly release?: Readonly<Record<string, string | null>>;
  /** The hashes in Release; an empty list for none. */
  readonly hashes?: readonly ('md5' | 'sha1' | 'sha256' | 'sha512')[];
  /** The compressions in Release; all by default. */
  readonly listed?: readonly Compression[];
  readonly byHash?: boolean;
  /** Each compression consists of two streams, as pbzip2 writes it. */
  readonly inStreams?: boolean;
  readonly paymentEndpoint?: string;
}

const hashFields = { md5: 'MD5Sum', sha1: 'SHA1', sha256: 'SHA256', sha512: 'SHA512' } as const;

// Most tests compress the same few packages, and the writers of bzip2 and LZMA are slow.
const compressed = new Map<string, Promise<Uint8Array>>();
const keptLength = 10_000;

/** Compresses in any format that an index may have. */
export const compress = (text: Uint8Array | string, compression: Compression): Promise<Uint8Array> => {
  if (typeof text !== 'string' || text.length > keptLength) return compressAnew(text, compression);
  const key = `${compression} ${text}`;
  const known = compressed.get(key) ?? compressAnew(text, compression);
  compressed.set(key, known);
  // A copy, because tests break what they get.
  return known.then((bytes) => Buffer.from(bytes));
};

const compressInStreams = async (text: string, compression: Compression): Promise<Uint8Array> => {
  const middle = text.indexOf('\n\n') + 2;
  const parts = [text.slice(0, middle), text.slice(middle)];
  return Buffer.concat(await Promise.all(parts.map((part) => compress(part, compression))));
};

const compressAnew = async (text: Uint8Array | string, compression: Compression): Promise<Uint8Array> => {
  const bytes = Buffer.from(text);
  switch (compression) {
    case 'plain':
      return bytes;
    case 'gz':
      return gzipSync(bytes);
    case 'zst':
      return zstdCompressSync(bytes);
    case 'xz':
      return xzAsync(bytes);
    case 'lzma':
      return writeLzma(bytes);
    case 'bz2':
      return writeBzip2(bytes);
  }
};

/** Packages named `com.example.<name>1` to `<count>`, which only differ in their numbers. */
export const makePackages = (count: number, name = 'p', version = '1.0'): Fields[] =>
  Array.from({ length: count }, (_, index) => ({
    Package: `com.example.${name}${index + 1}`,
    Name: `Example ${name} ${index + 1}`,
    Version: version,
    Architecture: 'iphoneos-arm64',
    Section: 'Tweaks',
    Maintainer: 'Ada Example <ada@example.com>',
    Description: `An example, number ${index + 1}`,
    Filename: `./debs/${name}${index + 1}.deb`,
    Size: String(1000 + index),
    SHA256: hash('sha256', `${name}${index}`),
  }));

/** The text of an index with these stanzas. */
export const composeIndex = (stanzas: readonly Fields[]): string =>
  stanzas
    .map(
      (fields) =>
        `${Object.entries(fields)
          .map(([name, value]) => `${name}: ${value}\n`)
          .join('')}`,
    )
    .join('\n');

/** The name of an index file with this compression. */
const indexName = (compression: Compression): string =>
  compression === 'plain' ? 'Packages' : `Packages.${compression}`;

/** The text of a Release with these fields, and the hashes of these files. */
const composeRelease = (
  fields: RepositoryPlan['release'],
  hashes: NonNullable<RepositoryPlan['hashes']>,
  files: ReadonlyMap<string, Uint8Array>,
): string => {
  let text = '';
  for (const [name, value] of Object.entries(fields ?? {})) if (value !== null) text += `${name}: ${value}\n`;
  for (const algorithm of hashes) {
    text += `${hashFields[algorithm]}:\n`;
    for (const [path, bytes] of files) text += ` ${hash(algorithm, bytes)} ${bytes.length} ${path}\n`;
  }
  return text;
};

/** Generates a whole repository: Release, the Packages index in each compression, and the rest of the plan. */
export const generateRepository = async (plan: RepositoryPlan = {}): Promise<RepositoryFiles> => {
  const { suite, packages = makePackages(3), compressions = ['bz2', 'plain'], hashes = ['sha256'] } = plan;
  const root = suite ? `/dists/${suite.name}` : '';
  const folder = suite ? `${suite.component}/binary-${suite.architecture}/` : '';
  const text = typeof packages === 'string' ? packages : composeIndex(packages);
  const files: RepositoryFiles = new Map();
  const listed = new Map<string, Uint8Array>();
  const ofAll = suite && plan.all ? { folder: `${suite.component}/binary-all/`, text: composeIndex(plan.all) } : null;
  const compressed = new Map<Compression, Uint8Array>();
  for (const compression of new Set([...compressions, ...(plan.listed ?? [])])) {
    compressed.set(compression, await (plan.inStreams ? compressInStreams : compress)(text, compression));
  }
  const bytesOf = (compression: Compression): Uint8Array => compressed.get(compression) ?? new Uint8Array();
  for (const compression of compressions) {
    const bytes = bytesOf(compression);
    const path = folder + indexName(compression);
    files.set(`${root}/${path}`, bytes);
    if (ofAll) {
      const path = ofAll.folder + indexName(compression);
      listed.set(path, await compress(ofAll.text, compression));
      files.set(`${root}/${path}`, listed.get(path) ?? bytes);
    }
    if (plan.byHash) files.set(`${root}/${folder}by-hash/SHA256/${hash('sha256', bytes)}`, bytes);
  }
  for (const compression of plan.listed ?? compressions) {
    listed.set(folder + indexName(compression), bytesOf(compression));
  }
  const fields = {
    Origin: 'Example',
    Label: 'Example',
    Suite: suite?.name ?? 'stable',
    Codename: 'ios',
    Version: '1.0',
    Architectures: suite?.architecture ?? 'iphoneos-arm64',
    Components: suite?.component ?? 'main',
    Description: 'Packages for tests',
    ...(plan.byHash ? { 'Acquire-By-Hash': 'yes' } : {}),
    ...plan.release,
  };
  files.set(`${root}/Release`, Buffer.from(composeRelease(fields, hashes, listed)));
  if (plan.paymentEndpoint !== undefined) files.set('/payment_endpoint', Buffer.from(plan.paymentEndpoint));
  return files;
};
