import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AptClient, hasApt } from '../support/apt-client.ts';
import { generateRepository, makePackages, type RepositoryFiles } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';
import { createSigner, type Signer, signRepository } from '../support/signer.ts';
import { ago, type Change, dated, day, edit, type Scenario, unsigned, usual } from './apt-scenarios.ts';

if (!hasApt) process.stdout.write('skipped: this machine has no apt to compare with\n');

let bench: CrawlBench;
let signer: Signer;
let other: Signer;
let expired: Signer;
let withSubkey: Signer;
let prolonged: Signer;

beforeAll(async () => {
  signer = await createSigner({ created: ago(20) });
  other = await createSigner({ created: ago(20) });
  expired = await createSigner({ created: ago(20), validSeconds: (10 * day) / 1000 });
  withSubkey = await createSigner({ created: ago(20), subkey: true });
  prolonged = await expired.prolong(ago(12));
});

beforeEach(async () => {
  bench = await CrawlBench.start();
  bench.now = new Date();
});

afterEach(() => bench.stop());

const signed =
  (by: () => Signer, into: ('InRelease' | 'Release.gpg')[] = ['InRelease'], days = 0.5, options = {}) =>
  (files: RepositoryFiles) =>
    signRepository(files, by(), into, { date: ago(days), ...options });

/** A Release.gpg with something around its signature. */
const around =
  (before: string, after: string): Change =>
  async (files) => {
    const signature = await signer.sign(files.get('/Release') ?? '', { date: ago(0.5) });
    return new Map(files).set('/Release.gpg', Buffer.from(before + signature + after));
  };

const pinned: Scenario[] = [
  { what: 'a good InRelease', change: signed(() => signer), apt: 5, ours: 5 },
  { what: 'a good Release.gpg', change: signed(() => signer, ['Release.gpg']), apt: 5, ours: 5 },
  { what: 'no signature any more', apt: 3, ours: 3 },
  { what: 'a signed Release without hashes', plan: { hashes: [] }, change: signed(() => signer), apt: 3, ours: 3 },
  { what: 'a signed Release with MD5 alone', plan: { hashes: ['md5'] }, change: signed(() => signer), apt: 3, ours: 3 },
  {
    what: 'a signed Release with SHA-512',
    plan: { hashes: ['sha512'] },
    change: signed(() => signer),
    apt: 5,
    ours: 5,
  },
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
  {
    what: 'a binary Release.gpg',
    change: async (files) =>
      new Map(files).set('/Release.gpg', await signer.signBinary(files.get('/Release') ?? '', { date: ago(0.5) })),
    apt: 3,
    ours: 3,
  },
  { what: 'a text before the signature in Release.gpg', change: around('Dear reader,\n', ''), apt: 3, ours: 3 },
  { what: 'a text after the signature in Release.gpg', change: around('', 'Yours, Ada\n'), apt: 3, ours: 3 },
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

  type Judged = [what: string, by: () => Signer, key: () => string | Promise<string>, code: string | null];
  const judged: Judged[] = [
    ['a signing subkey', () => withSubkey, () => withSubkey.publicKey, null],
    [
      'a signing subkey that was replaced',
      () => withSubkey,
      () => withSubkey.withRevokedSubkeys('soft', ago(1)),
      'signature-key-revoked',
    ],
    [
      'a signing subkey that was stolen',
      () => withSubkey,
      () => withSubkey.withRevokedSubkeys('hard', ago(1)),
      'signature-key-revoked',
    ],
    [
      'a key that was prolonged, with the copy from before',
      () => prolonged,
      () => expired.publicKey,
      'signature-key-expired',
    ],
    ['a key that was prolonged, with the copy of now', () => prolonged, () => prolonged.publicKey, null],
    ['a key in the first of two blocks', () => signer, () => signer.publicKey + other.publicKey, null],
    ['a key in the second of two blocks', () => signer, () => other.publicKey + signer.publicKey, null],
  ];

  it.each(judged)('C5: %s', async (_what, by, key, code) => {
    const armoured = await key();
    const files = await generateRepository({ ...usual, release: dated(1) });
    const uri = bench.origin.uri('repo');
    bench.origin.serve('repo', await signRepository(files, by(), ['InRelease'], { date: ago(5) }));
    const { packages, text } = await new AptClient(uri, armoured).update();
    const outcome = await bench.crawlOne({}, makeEntry('repo', uri, { key: armoured }));
    expect({ apt: packages !== null, code: outcome.code }, text).toEqual({ apt: code === null, code });
  });
});
