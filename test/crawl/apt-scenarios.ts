import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  composeIndex,
  compress,
  makePackages,
  type RepositoryFiles,
  type RepositoryPlan,
} from '../support/apt-repository.ts';

export const day = 86_400_000;
export const ago = (days: number) => new Date(Date.now() - days * day);
export const dated = (days: number) => ({ Date: ago(days).toUTCString().replace('GMT', 'UTC') });

/** What is done to the files of a repository before they are served. */
export type Change = (files: RepositoryFiles) => RepositoryFiles | Promise<RepositoryFiles>;

/** What is published: the first state of a repository with 3 packages, then one with 5 that is changed by `change`. */
export interface Scenario {
  readonly what: string;
  readonly plan?: RepositoryPlan;
  readonly change?: Change | undefined;
  /** Packages in force with apt and here afterwards; null for none. Where they differ, why. */
  readonly apt: number | null;
  readonly ours: number | null;
  readonly because?: string;
}

export const usual: RepositoryPlan = { compressions: ['gz', 'plain'], hashes: ['sha256'] };
const text5 = composeIndex(makePackages(5));
const set = (path: string, content: Uint8Array | string) => (files: RepositoryFiles) =>
  new Map(files).set(path, Buffer.from(content));
export const edit =
  (path: string, from: string | RegExp, to: string | ((match: string) => string)) => (files: RepositoryFiles) =>
    new Map(files).set(
      path,
      Buffer.from(
        Buffer.from(files.get(path) ?? '')
          .toString()
          .replace(from, to as string),
      ),
    );
const drop =
  (...paths: string[]) =>
  (files: RepositoryFiles) => {
    const rest = new Map(files);
    for (const path of paths) rest.delete(path);
    return rest;
  };

const zeroDigest = '0'.repeat(64);
export const ofDates = 'its packages are shown, with a finding that says what APT makes of the date';

export const unsigned: Scenario[] = [
  { what: 'nothing wrong', apt: 5, ours: 5 },
  {
    what: 'no Release any more',
    change: drop('/Release'),
    apt: 5,
    ours: 3,
    because: 'trusted=yes does without a Release, and here its absence is a fault',
  },
  { what: 'a Release of yesterday', plan: { release: dated(2) }, apt: 3, ours: 3 },
  { what: 'a Release of tomorrow', plan: { release: dated(-2) }, apt: 3, ours: 5, because: ofDates },
  {
    what: 'an expired Release',
    plan: { release: { ...dated(0), 'Valid-Until': ago(0.1).toUTCString() } },
    apt: 3,
    ours: 5,
    because: ofDates,
  },
  {
    what: 'a Date in another time zone',
    plan: { release: { Date: ago(0).toUTCString().replace('GMT', '+0200') } },
    apt: 3,
    ours: 5,
    because: ofDates,
  },
  ...(['xz', 'bz2'] as const).map((compression) => ({
    what: `${compression} in two streams`,
    plan: { compressions: [compression], listed: [compression, 'plain' as const], inStreams: true },
    apt: 3,
    ours: 5,
    because: 'APT reads the first stream alone, which a finding says',
  })),
  {
    what: 'gz in two streams',
    plan: { compressions: ['gz'], listed: ['gz', 'plain'], inStreams: true },
    apt: 5,
    ours: 5,
  },
  {
    what: 'an index that does not match',
    change: set('/Packages.gz', gzipSync('x')),
    apt: 3,
    ours: 5,
    because: 'Release confirms another compression, which is tried (C8)',
  },
  {
    what: 'no index that matches',
    change: (files) => set('/Packages', 'x')(set('/Packages.gz', gzipSync('x'))(files)),
    apt: 3,
    ours: 3,
  },
  { what: 'MD5 alone', plan: { hashes: ['md5'] }, apt: 5, ours: 5 },
  { what: 'no hashes', plan: { hashes: [] }, apt: 5, ours: 5 },
  {
    what: 'upper-case digests',
    change: edit('/Release', /[0-9a-f]{64}/g, (digest) => digest.toUpperCase()),
    apt: 3,
    ours: 5,
    because: 'real repositories write it, and it takes nothing from the proof',
  },
  {
    what: 'paths that begin with ./',
    change: edit('/Release', / Packages/g, ' ./Packages'),
    apt: null,
    ours: 5,
    because: 'real repositories write it, and it takes nothing from the proof',
  },
  {
    what: 'only the compressed index listed',
    plan: { listed: ['gz'] },
    apt: null,
    ours: 5,
    because: 'real repositories write it, and it takes nothing from the proof',
  },
  {
    what: 'only the plain index listed, only the compressed one there',
    plan: { listed: ['plain'] },
    change: drop('/Packages'),
    apt: 3,
    ours: 5,
    because: 'Release confirms the text (V4)',
  },
  { what: 'an empty line before the hashes', change: edit('/Release', 'SHA256:', '\nSHA256:'), apt: 5, ours: 5 },
  {
    what: 'comment lines',
    change: edit('/Release', 'Origin', '# a comment\nOrigin'),
    apt: 3,
    ours: 5,
    because: 'comments are left out, as in every other control file',
  },
  {
    what: 'a byte order mark',
    change: edit('/Release', /^/, '\ufeff'),
    apt: 3,
    ours: 5,
    because: 'real repositories write it, and it takes nothing from the proof',
  },
  {
    what: 'a second and wrong line about each file',
    change: edit(
      '/Release',
      /SHA256:\n[\s\S]+$/,
      (block) => block + block.slice(8).replace(/[0-9a-f]{64}/g, zeroDigest),
    ),
    apt: 5,
    ours: 5,
  },
  {
    what: 'a first and wrong line about each file',
    change: edit(
      '/Release',
      /SHA256:\n[\s\S]+$/,
      (block) => block.slice(0, 8) + block.slice(8).replace(/[0-9a-f]{64}/g, zeroDigest) + block.slice(8),
    ),
    apt: 3,
    ours: 3,
  },
  {
    what: 'a second and wrong field of hashes',
    change: edit('/Release', /SHA256:\n[\s\S]+$/, (block) => block + block.replace(/[0-9a-f]{64}/g, zeroDigest)),
    apt: 3,
    ours: 3,
  },
  { what: 'a web page for Release', change: set('/Release', '<html>no</html>'), apt: 3, ours: 3 },
  { what: 'an empty Release', change: set('/Release', ''), apt: 3, ours: 3 },
  {
    what: 'a web page for the index',
    change: (files) => set('/Packages', '<html>')(set('/Packages.gz', '<html>')(files)),
    apt: 3,
    ours: 3,
  },
];

const sha256 = (content: Uint8Array | string) => hash('sha256', content);

const relisted =
  (bytes: () => Promise<Uint8Array> | Uint8Array): Scenario['change'] =>
  async (files) => {
    const content = await bytes();
    const release = `Origin: Example\nLabel: Example\nSuite: stable\nCodename: ios\nDate: ${dated(0).Date}\nSHA256:\n ${sha256(content)} ${content.length} Packages.gz\n ${sha256(text5)} ${text5.length} Packages\n`;
    return new Map([...drop('/Packages')(files), ['/Packages.gz', content], ['/Release', Buffer.from(release)]]);
  };

unsigned.push(
  {
    what: 'concatenated members',
    change: relisted(() => Buffer.concat([gzipSync(text5.slice(0, 500)), gzipSync(text5.slice(500))])),
    apt: 5,
    ours: 5,
  },
  {
    what: 'a truncated stream that Release confirms',
    change: relisted(() => gzipSync(text5).subarray(0, -20)),
    apt: 3,
    ours: 3,
  },
  {
    what: 'another compression under a right name that Release confirms',
    change: relisted(async () => compress(text5, 'xz')),
    apt: 3,
    ours: 3,
  },
);
