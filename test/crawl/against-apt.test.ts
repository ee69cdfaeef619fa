import { beforeAll, describe, expect, it } from 'vitest';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import { AptClient, hasApt } from '../support/apt-client.ts';
import { generateRepository, makePackages, type RepositoryFiles } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';
import { createSigner, type Signer, signRepository } from '../support/signer.ts';
import { ago, type Change, dated, day, edit, ofDates, type Scenario, unsigned, usual } from './apt-scenarios.ts';

if (!hasApt) process.stdout.write('skipped: this machine has no apt to compare with\n');

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
  {
    what: 'a Valid-Until in another time zone',
    plan: { release: { ...dated(0), 'Valid-Until': ago(-9).toUTCString().replace('GMT', '+0200') } },
    apt: 3,
    ours: 5,
    change: signed(() => signer),
    because: ofDates,
  },
  {
    what: 'a Valid-Until as asctime writes it',
    plan: {
      release: {
        ...dated(0),
        'Valid-Until': ago(-9)
          .toUTCString()
          .replace(/, (..) (...) (....) (\S+) GMT/, ' $2 $1 $4 $3'),
      },
    },
    apt: 5,
    ours: 5,
    change: signed(() => signer),
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
  ...['\n', ' ', '\r\n'].map((blank) => ({
    what: `${JSON.stringify(blank)} after the signature`,
    change: async (files: RepositoryFiles) => edit('/InRelease', /$/, blank)(await signed(() => signer)(files)),
    apt: 3,
    ours: 3,
  })),
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
  { what: 'a blank line before the signature in Release.gpg', change: around('\n', ''), apt: 3, ours: 3 },
  { what: 'a blank line after the signature in Release.gpg', change: around('', '\n'), apt: 3, ours: 3 },
  { what: 'a blank before the signature in Release.gpg', change: around(' ', ''), apt: 3, ours: 3 },
  { what: 'a byte order mark before the signature in Release.gpg', change: around('\ufeff', ''), apt: 3, ours: 3 },
];

/** What became of one repository with apt and here, and what apt said of all that it updated at once. */
interface Played {
  readonly apt: number | null;
  readonly ours: number | null;
  readonly outcome: CrawlOutcome | undefined;
  readonly text: string;
}

/** A repository at one moment. */
interface State {
  readonly key?: string | undefined;
  readonly files: RepositoryFiles;
}

const slugOf = (index: number): string => `repo${index}`;

/** Begins with an origin and a store in which there is nothing yet. */
const startBench = async (): Promise<CrawlBench> => {
  const started = await CrawlBench.start();
  started.now = new Date();
  return started;
};

/** What has apt take these sources, with the client and how many packages each has then. */
type AptTakes = (apt: AptClient) => ReturnType<AptClient['update']>;

/** Has apt, and us, take each of these repositories as it is now: all at once, for what an update costs is its start. */
const take = async (
  bench: CrawlBench,
  states: readonly State[],
  { known, takes = (apt) => apt.update() }: { known?: AptClient; takes?: AptTakes } = {},
) => {
  const { origin } = bench;
  for (const [index, { files }] of states.entries()) origin.serve(slugOf(index), files);
  const sources = states.map(({ key }, index) => ({ uri: origin.uri(slugOf(index)), key }));
  const apt = known ?? new AptClient(bench.directory, sources);
  const { packages, text } = await takes(apt);
  const entries = sources.map(({ uri, key }, index) => makeEntry(slugOf(index), uri, key === undefined ? {} : { key }));
  const outcomes = await bench.crawl(entries);
  const played = entries.map(async ({ slug }, index): Promise<Played> => {
    const ours = (await bench.store.read(slug))?.packages.stanzas ?? null;
    const outcome = outcomes.find((one) => one.slug === slug);
    return { apt: packages[index] ?? null, ours, outcome, text };
  });
  return { apt, played: await Promise.all(played) };
};

/** Scenarios of repositories with one key, or without, which all begin with the same files. */
interface Series {
  readonly scenarios: readonly Scenario[];
  readonly key: string | undefined;
  /** Makes their first state of what all have. */
  readonly first: Change;
}

/** Plays scenarios, each with a repository of its own: its first state, then what the scenario makes of it. */
const play = async (series: readonly Series[]): Promise<Map<Scenario, Played | undefined>> => {
  const bench = await startBench();
  try {
    const before = await generateRepository({ ...usual, release: dated(1), packages: makePackages(3) });
    const plays = await Promise.all(
      series.map(async ({ scenarios, key, first }) => {
        const files = await first(before);
        return scenarios.map((scenario) => ({ scenario, key, files }));
      }),
    );
    const all = plays.flat();
    // The first of each series stands for all: what apt takes of the others would be the same files, and each signature
    // costs it a dozen processes.
    const firstOf = all.map(({ files }) => all.findIndex((other) => other.files === files));
    const takes: AptTakes = async (apt) => {
      const { text } = await apt.update([...new Set(firstOf)]);
      for (const [index, first] of firstOf.entries()) if (first !== index) apt.adopt(index, first);
      return { packages: apt.count(), text };
    };
    const { apt, played } = await take(bench, all, { takes });
    for (const [index, { apt: packages, outcome, text }] of played.entries()) {
      expect({ packages, outcome: outcome?.outcome }, `${slugOf(index)}: ${text}`).toEqual({
        packages: 3,
        outcome: 'fresh',
      });
    }
    const states = all.map(async ({ key, scenario: { plan, change } }) => {
      const files = await generateRepository({ ...usual, release: dated(0), packages: makePackages(5), ...plan });
      return { key, files: (await change?.(files)) ?? files };
    });
    const then = await take(bench, await Promise.all(states), { known: apt });
    return new Map(all.map(({ scenario }, index) => [scenario, then.played[index]]));
  } finally {
    await bench.stop();
  }
};

const check = (scenario: Scenario, played: Played | undefined): void => {
  const { apt, ours, text } = played ?? expect.fail('it was played');
  expect({ apt, ours }, text).toEqual({ apt: scenario.apt, ours: scenario.ours });
  expect(scenario.because !== undefined, 'a difference has a reason, and nothing else has').toBe(
    scenario.apt !== scenario.ours,
  );
};

describe.skipIf(!hasApt)('against apt itself', () => {
  let played = new Map<Scenario, Played | undefined>();
  beforeAll(async () => {
    played = await play([
      { scenarios: unsigned, key: undefined, first: (files) => files },
      { scenarios: pinned, key: signer.publicKey, first: signed(() => signer, ['InRelease'], 1) },
    ]);
  }, 240_000);

  it.each(unsigned)('C3, C5, C8: a repository that nobody vouches for: $what', (scenario) =>
    check(scenario, played.get(scenario)),
  );

  it.each(pinned)('C5, V3: a repository with a key: $what', (scenario) => check(scenario, played.get(scenario)));

  it('C8: APT stops at an error of the server at InRelease where we say so, and at no other', async () => {
    const bench = await startBench();
    try {
      const files = await generateRepository({ ...usual, release: dated(1) });
      const statuses = [500, 501, 502, 503, 504, 507, 520, 525, 599];
      for (const [index, status] of statuses.entries()) {
        bench.origin.break(`/${slugOf(index)}/InRelease`, { kind: 'status', status });
      }
      const { played } = await take(
        bench,
        statuses.map(() => ({ files })),
      );
      const stops = played.map(({ outcome }) => outcome?.findings.some(({ code }) => code === 'inrelease-error'));
      expect(stops).toEqual(played.map(({ apt }) => apt === null));
      expect(statuses.filter((_, index) => stops[index])).toEqual([500, 502, 503, 504, 599]);
    } finally {
      await bench.stop();
    }
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

  /** What is signed by some key some days ago, and taken with another or the same. */
  const takeSigned = async (signings: readonly { by: Signer; key: string; days: number }[]): Promise<Played[]> => {
    const bench = await startBench();
    try {
      const files = await generateRepository({ ...usual, release: dated(1) });
      const states = signings.map(async ({ by, key, days }) => ({
        key,
        files: await signRepository(files, by, ['InRelease'], { date: ago(days) }),
      }));
      return (await take(bench, await Promise.all(states))).played;
    } finally {
      await bench.stop();
    }
  };

  it('C5: keys of every kind are judged as apt judges them, and nothing is taken with one that is expired, or revoked', async () => {
    const refused = [
      { by: expired, key: expired.publicKey, days: 15 },
      { by: signer, key: signer.revoked, days: 15 },
    ];
    const signings = judged.map(async ([, by, key]) => ({ by: by(), key: await key(), days: 5 }));
    const [ofExpired, ofRevoked, ...taken] = await takeSigned([...refused, ...(await Promise.all(signings))]);
    for (const [one, code] of [
      [ofExpired, 'signature-key-expired'],
      [ofRevoked, 'signature-key-revoked'],
    ] as const) {
      expect(one?.apt, one?.text).toBeNull();
      expect(one?.outcome).toMatchObject({ outcome: 'failed', code });
    }
    expect(taken.map(({ apt, outcome }, index) => [judged[index]?.[0], apt !== null, outcome?.code])).toEqual(
      judged.map(([what, , , code]) => [what, code === null, code]),
    );
  });
});
