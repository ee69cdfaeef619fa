import { gzipSync, zstdCompressSync } from 'node:zlib';
import { composeIndex, generateRepository, makePackages } from './apt-repository.ts';
import type { Fault, OriginServer } from './origin-server.ts';

const text = composeIndex(makePackages(3));
const zeros = Buffer.alloc(40_000_000);
const body = (content: Uint8Array | string): Fault => ({ kind: 'body', body: content });

/** A repository in which a single file is broken. */
const withFault =
  (path: string, fault: Fault) =>
  async (origin: OriginServer, prefix: string): Promise<void> => {
    origin.serve(prefix, await generateRepository({ compressions: ['gz'], hashes: [] }));
    origin.break(`/${prefix}${path}`, fault);
  };

/** A repository whose index is this text. */
const withIndex =
  (index: string) =>
  async (origin: OriginServer, prefix: string): Promise<void> =>
    origin.serve(prefix, await generateRepository({ compressions: ['gz'], packages: index }));

const nasty = (name: string): string =>
  `Package: ${name}\nVersion: 1\nArchitecture: a\nFilename: ${name}\nName: <script>${name}</script>\n__proto__: x\n`;

const names = ['../../../etc/passwd', 'CON', 'a.', 'A', 'a\u0301', '__proto__', 'constructor', 'x'.repeat(5000)];

/** Twenty kinds of damage to an index, each for an origin of its own. */
export const hostile: readonly (readonly [string, (origin: OriginServer, prefix: string) => Promise<void>])[] = [
  ['never answers', withFault('/Release', { kind: 'silent' })],
  ['cuts the connection', withFault('/Release', { kind: 'reset' })],
  ['sends a byte at a time', withFault('/Release', { kind: 'slow', intervalMs: 50 })],
  ['sends headers a byte at a time', withFault('/Release', { kind: 'slow-headers', intervalMs: 50 })],
  ['sends without end', withFault('/Packages.gz', { kind: 'endless' })],
  ['stops in the middle', withFault('/Packages.gz', { kind: 'stall', after: 20 })],
  ['redirects in a circle', withFault('/Release', { kind: 'redirect', location: 'Release' })],
  ['redirects inside', withFault('/Release', { kind: 'redirect', location: 'http://169.254.169.254/' })],
  ['sends giant headers', withFault('/Release', { kind: 'giant-headers', bytes: 1_000_000 })],
  ['speaks something else', withFault('/Release', { kind: 'no-http', text: 'SSH-2.0-x\r\n' })],
  ['asks for money', withFault('/Packages.gz', body('<html>Pay</html>'))],
  ['is a gzip bomb', withFault('/Packages.gz', body(gzipSync(zeros)))],
  ['is a bomb in members', withFault('/Packages.gz', body(Buffer.concat(Array(64).fill(gzipSync(zeros)))))],
  ['is a zstd bomb', withFault('/Packages.zst', body(zstdCompressSync(zeros)))],
  ['is garbage', withFault('/Packages.gz', body(gzipSync(text).fill(7, 30)))],
  ['lists a million files', withFault('/Release', body(`SHA256:\n${` ${'0'.repeat(64)} 1 x\n`.repeat(100_000)}`))],
  ['signs with garbage', withFault('/InRelease', body(`-----BEGIN PGP SIGNED MESSAGE-----\n\n${'-'.repeat(100_000)}`))],
  ['has names of every kind', withIndex(names.map(nasty).join('\n'))],
  ['has one stanza without end', withIndex(`Package: a\n${'X: y\n'.repeat(400_000)}`)],
  ['says everything twice', withIndex(`${nasty('double')}\n`.repeat(20_000))],
];
