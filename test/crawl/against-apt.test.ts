import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AptClient, hasApt } from '../support/apt-client.ts';
import {
  composeIndex,
  compress,
  generateRepository,
  makePackages,
  type RepositoryFiles,
  type RepositoryPlan,
} from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';
import { createSigner, type Signer, signRepository } from '../support/signer.ts';

if (!hasApt) process.stdout.write('skipped: this machine has no apt to compare with\n');

let bench: CrawlBench;
let signer: Signer;
let other: Signer;
let expired: Signer;

const day = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * day);
const dated = (days: number) => ({ Date: ago(days).toUTCString().replace('GMT', 'UTC') });

beforeAll(async () => {
  signer = await createSigner({ created: ago(20) });
  other = await createSigner({ created: ago(20) });
  expired = await createSigner({ created: ago(20), validSeconds: (10 * day) / 1000 });
});

beforeEach(async () => {
  bench = await CrawlBench.start();
  bench.now = new Date();
});

afterEach(() => bench.stop());

type Change = (files: RepositoryFiles) => RepositoryFiles | Promise<RepositoryFiles>;

/** What is published: the first state of a repository with 3 packages, then one with 5 that is changed by `change`. */
interface Scenario {
  readonly what: string;
  readonly plan?: RepositoryPlan;
  readonly change?: Change | undefined;
  /** Packages in force with apt and here afterwards; null for none. Where they differ, why. */
  readonly apt: number | null;
  readonly ours: number | null;
  readonly because?: string;
}

const usual: RepositoryPlan = { compressions: ['gz', 'plain'], hashes: ['sha256'] };
const text5 = composeIndex(makePackages(5));
const set = (path: string, content: Uint8Array | string) => (files: RepositoryFiles) =>
  new Map(files).set(path, Buffer.from(content));
const edit =
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

const unsigned: Scenario[] = [
  { what: 'nothing wrong', apt: 5, ours: 5 },
  {
    what: 'no Release any more',
    change: drop('/Release'),
    apt: 5,
    ours: 3,
    because: 'trusted=yes does without a Release, and here its absence is a fault',
  },
  { what: 'a Release of yesterday', plan: { release: dated(2) }, apt: 3, ours: 3 },
  { what: 'a Release of tomorrow', plan: { release: dated(-2) }, apt: 5, ours: 5 },
  {
    what: 'an expired Release',
    plan: { release: { ...dated(0), 'Valid-Until': ago(0.1).toUTCString() } },
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

const signed =
  (by: () => Signer, into: ('InRelease' | 'Release.gpg')[] = ['InRelease'], days = 0.5, options = {}) =>
  (files: RepositoryFiles) =>
    signRepository(files, by(), into, { date: ago(days), ...options });

const pinned: Scenario[] = [
  { what: 'a good InRelease', change: signed(() => signer), apt: 5, ours: 5 },
  { what: 'a good Release.gpg', change: signed(() => signer, ['Release.gpg']), apt: 5, ours: 5 },
  { what: 'no signature any more', apt: 3, ours: 3 },
  { what: 'another key', change: signed(() => other), apt: 3, ours: 3 },
  { what: 'another key in Release.gpg', change: signed(() => other, ['Release.gpg']), apt: 3, ours: 3 },
  {
    what: 'a signature that has expired',
    change: signed(() => signer, ['InRelease'], 0.5, { validSeconds: 3600 }),
    apt: 3,
    ours: 3,
  },
  {
    what: 'a Release.gpg that has expired',
    change: signed(() => signer, ['Release.gpg'], 0.5, { validSeconds: 3600 }),
    apt: 3,
    ours: 3,
  },
  {
    what: 'a signature that will expire',
    change: signed(() => signer, ['InRelease'], 0.5, { validSeconds: 86_400 }),
    apt: 5,
    ours: 5,
  },
  {
    what: 'a text changed after signing',
    change: async (files) => edit('/InRelease', 'Label: E', 'Label: X')(await signed(() => signer)(files)),
    apt: 3,
    ours: 3,
  },
  {
    what: 'a Release changed after signing',
    change: async (files) =>
      edit('/Release', 'Label: E', 'Label: X')(await signed(() => signer, ['Release.gpg'])(files)),
    apt: 3,
    ours: 3,
  },
  {
    what: 'a text before the signed message',
    change: async (files) => edit('/InRelease', /^/, 'Origin: evil\n')(await signed(() => signer)(files)),
    apt: 3,
    ours: 3,
  },
  {
    what: 'a text after the signature',
    change: async (files) => edit('/InRelease', /$/, 'Origin: evil\n')(await signed(() => signer)(files)),
    apt: 3,
    ours: 3,
  },
  {
    what: 'a good signature and one by a stranger',
    change: async (files) => {
      const release = files.get('/Release') ?? '';
      return new Map(files).set(
        '/Release.gpg',
        Buffer.from(
          `${await signer.sign(release, { date: ago(0.5) })}${await other.sign(release, { date: ago(0.5) })}`,
        ),
      );
    },
    apt: 5,
    ours: 5,
  },
];

const play = async ({ plan, change }: Scenario, key: string | undefined, first: Change) => {
  const { origin } = bench;
  const uri = origin.uri('repo');
  const entry = makeEntry('repo', uri, key === undefined ? {} : { key });
  const apt = new AptClient(uri, key);
  const before = await generateRepository({ ...usual, release: dated(1), packages: makePackages(3) });
  origin.serve('repo', await first(before));
  const begun = await apt.update();
  expect(begun.packages, begun.text).toBe(3);
  expect((await bench.crawlOne({}, entry)).outcome).toBe('fresh');
  const files = await generateRepository({ ...usual, release: dated(0), packages: makePackages(5), ...plan });
  origin.serve('repo', (await change?.(files)) ?? files);
  const theirs = await apt.update();
  await bench.crawlOne({}, entry);
  return { theirs, ours: (await bench.store.read('repo'))?.packages.stanzas ?? null };
};

const check = async (scenario: Scenario, key: string | undefined, first: Change) => {
  const { theirs, ours } = await play(scenario, key, first);
  expect({ apt: theirs.packages, ours }, theirs.text).toEqual({ apt: scenario.apt, ours: scenario.ours });
  expect(scenario.because !== undefined, 'a difference has a reason, and nothing else has').toBe(
    scenario.apt !== scenario.ours,
  );
};

describe.skipIf(!hasApt)('against apt itself, a repository that nobody vouches for', () => {
  it.each(unsigned)('C3, C5, C8: $what', (scenario) => check(scenario, undefined, (files) => files));
});

describe.skipIf(!hasApt)('against apt itself, a repository with a key', () => {
  it.each(pinned)('C5, V3: $what', (scenario) =>
    check(
      scenario,
      signer.publicKey,
      signed(() => signer, ['InRelease'], 1),
    ),
  );

  it.each(['expired', 'revoked'])('C5: nothing is taken with a key that is %s', async (what) => {
    const key = what === 'expired' ? expired.publicKey : signer.revoked;
    const by = what === 'expired' ? expired : signer;
    const files = await generateRepository({ ...usual, release: dated(1) });
    const uri = bench.origin.uri('repo');
    bench.origin.serve('repo', await signRepository(files, by, ['InRelease'], { date: ago(15) }));
    const { packages, text } = await new AptClient(uri, key).update();
    expect(packages, text).toBeNull();
    expect(await bench.crawlOne({}, makeEntry('repo', uri, { key }))).toMatchObject({
      outcome: 'failed',
      code: `signature-key-${what}`,
    });
  });
});
