import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRepositoryFindings } from '../../src/catalog/reading.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { updateCatalog } from '../../src/catalog/update.ts';
import type { comparedTexts } from '../../src/contract/finding-texts/compared-findings.ts';
import type { packageTexts } from '../../src/contract/finding-texts/packages-findings.ts';
import type { releaseTexts } from '../../src/contract/finding-texts/release-findings.ts';
import { limits } from '../../src/contract/limits.ts';
import { composeIndex, generateRepository, makePackages } from '../support/apt-repository.ts';
import { CrawlBench, makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';
import { createSigner, signRepository } from '../support/signer.ts';

let bench: CrawlBench;

beforeEach(async () => {
  bench = await CrawlBench.start();
});

afterEach(() => {
  Object.assign(limits, usual);
  return bench.stop();
});

const usual = { ...limits };

/** Brings about what lies beyond limits that are lower than usual: as much as is taken would be beyond the time of a test. */
const beyond = (lower: Partial<typeof limits>, bringAbout: () => Promise<unknown>) => () => {
  Object.assign(limits, lower);
  return bringAbout();
};

/**
 * Crawls and reads what the origin serves into the catalog of a state folder; returns the codes of what was found, of
 * snapshot and catalog together, in the repository `repo`.
 */
const findCodes = async ({ slugs = ['repo'], state = temporaryFolder() } = {}): Promise<string[]> => {
  const entries = slugs.map((slug) => makeEntry(slug, bench.origin.uri(slug)));
  for (const entry of entries) {
    const outcome = await bench.crawlOne({ limits: { repetitions: 0 } }, entry);
    expect(outcome.reason).toBeNull();
  }
  const catalog = new CatalogBuild(state);
  await updateCatalog(catalog, entries, bench.store, { base: 'https://index.test', now: bench.now });
  const found = readRepositoryFindings(catalog.database).find(({ slug }) => slug === 'repo');
  await catalog.publish();
  return (found?.findings ?? []).map(({ code }) => code);
};

const serve = async (
  plan: Parameters<typeof generateRepository>[0],
  files: Record<string, Uint8Array | string> = {},
) => {
  const all = await generateRepository({ compressions: ['plain'], ...plan });
  for (const [path, content] of Object.entries(files)) all.set(path, Buffer.from(content));
  bench.origin.serve('repo', all);
};

/** Serves a Release that begins with `text`. */
const release = (text: Uint8Array | string) => async () => {
  const files = await generateRepository();
  const rest = files.get('/Release') ?? new Uint8Array();
  bench.origin.serve('repo', files.set('/Release', Buffer.concat([Buffer.from(text), rest])));
};
const fields = (given: Record<string, string>) => () => serve({ release: given });

/** Serves an index of a good stanza and of one with these fields besides or instead; null leaves one out. */
const stanza = (given: Record<string, string | null>) => () => {
  const [good = {}, other = {}] = makePackages(2);
  const kept = Object.entries({ ...other, ...given }).filter(([, value]) => value !== null);
  return serve({ packages: composeIndex([good, Object.fromEntries(kept) as Record<string, string>]) });
};
const index = (text: string) => () => serve({ packages: composeIndex(makePackages(2)) + text });

/**
 * What brings about each finding of a Release and what stands around it; the compiler asks for one of each. That the
 * data of a former address is shown is found where the new one does not answer (successive-visits.test.ts), and what is wrong with
 * depictions only where they are asked for (depictions.test.ts).
 */
const ofRelease: Record<
  Exclude<keyof typeof releaseTexts, 'address-former' | 'depiction-unusable'>,
  () => Promise<unknown>
> = {
  'release-line-malformed': release('no field\n'),
  'release-blank-line': release('Origin: a\n\n'),
  'release-field-repeated': release('Label: a\n'),
  'release-field-oversized': fields({ Label: 'x'.repeat(5000) }),
  'release-encoding-not-utf8': release(Buffer.from('X: \xff\n', 'latin1')),
  'release-hash-malformed': release('MD5Sum:\n 00 -1 Packages\n'),
  'release-hash-empty': release('SHA1:\n'),
  'release-entry-conflict': release(`MD5Sum:\n ${'0'.repeat(32)} 1 x\n ${'1'.repeat(32)} 1 x\n`),
  'release-architecture-singular': fields({ Architecture: 'iphoneos-arm' }),
  'release-payment-gateway-malformed': fields({ 'Payment-Gateway': 'http://pay.example/' }),
  'release-expired': fields({ 'Valid-Until': 'Mon, 01 Jan 2024 00:00:00 UTC' }),
  'release-in-future': fields({ Date: 'Thu, 01 Jan 2099 00:00:00 UTC' }),
  'release-date-unreadable': fields({ Date: 'yesterday' }),
  'release-without-hashes': () => serve({ hashes: [] }),
  'release-weak-hashes': () => serve({ hashes: ['md5', 'sha1'] }),
  'index-not-listed': () => serve({ hashes: [], release: { SHA256: `\n ${'0'.repeat(64)} 1 elsewhere/Packages` } }),
  'index-gone': async () => {
    await serve({});
    await bench.crawlOne();
    bench.origin.remove('/repo/Packages');
    bench.pass(limits.extrasMs / 1000);
  },
  'index-variants-differ': async () =>
    serve({ compressions: ['xz', 'plain'] }, { '/Packages': composeIndex(makePackages(4)) }).then(async () => {
      const files = await generateRepository({ compressions: ['xz'] });
      const other = await generateRepository({
        packages: makePackages(4),
        compressions: ['plain'],
        hashes: ['sha256'],
      });
      const line = / [0-9a-f]{64} \d+ Packages\n/.exec(Buffer.from(other.get('/Release') ?? '').toString())?.[0] ?? '';
      bench.origin.serve(
        'repo',
        files.set('/Release', Buffer.concat([files.get('/Release') ?? new Uint8Array(), Buffer.from(line)])),
      );
    }),
  'index-several-streams': () => serve({ compressions: ['bz2'], inStreams: true }),
  'inrelease-unsigned': async () => serve({}, { '/InRelease': (await generateRepository()).get('/Release') ?? '' }),
  'inrelease-error': async () => {
    await serve({});
    bench.origin.break('/repo/InRelease', { kind: 'status', status: 500 });
  },
  'signatures-too-many': beyond({ signatures: 2 }, async () => {
    const signer = await createSigner();
    const files = await signRepository(await generateRepository(), signer, ['Release.gpg']);
    const [block = ''] = [Buffer.from(files.get('/Release.gpg') ?? '').toString()];
    bench.origin.serve('repo', files.set('/Release.gpg', Buffer.from(block.repeat(limits.signatures + 1))));
  }),
  'signature-unreadable': () => serve({}, { '/Release.gpg': 'no signature' }),
  'payment-endpoint-unreadable': () => serve({ paymentEndpoint: 'http://pay.example/' }),
  'extras-unanswered': async () => {
    await serve({});
    bench.origin.break('/repo/payment_endpoint', { kind: 'status', status: 429 });
  },
  redirected: async () => {
    await serve({});
    bench.origin.serve('other', await generateRepository());
    bench.origin.break('/repo/Release', { kind: 'redirect', location: '/other/Release' });
  },
  'snapshot-damaged': async () => {
    await serve({});
    await bench.crawlOne();
    const snapshot = await bench.store.read('repo');
    await rm(`${bench.directory}/v1/repo/${snapshot?.packages.sha256}`);
  },
};

/** An index of so many stanzas, made of few parts for the sake of time. */
const many = (count: number, compose: (number: number) => string) => async () =>
  serve({
    packages: Array.from({ length: count }, (_, number) => compose(number)).join('\n'),
  });
const brief = (name: string, version: string, rest = '') =>
  `Package: ${name}\nVersion: ${version}\nArchitecture: all\nFilename: a\nSize: 1\n${rest}`;

/** What brings about each finding of an index; the compiler asks for one of each. */
const ofIndex: Record<keyof typeof packageTexts, () => Promise<unknown>> = {
  'package-missing': stanza({ Package: null }),
  'package-malformed': stanza({ Package: 'a\x01b' }),
  'version-missing': stanza({ Version: null }),
  'version-unreadable': stanza({ Version: '1\x01' }),
  'version-malformed': stanza({ Version: 'one two' }),
  'architecture-missing': stanza({ Architecture: null }),
  'architecture-malformed': stanza({ Architecture: 'a\x01' }),
  'filename-missing': stanza({ Filename: null }),
  'filename-malformed': stanza({ Filename: 'a\x01' }),
  'size-missing': stanza({ Size: null }),
  'size-malformed': stanza({ Size: '-1' }),
  'installed-size-malformed': stanza({ 'Installed-Size': '1.5' }),
  'sha256-malformed': stanza({ SHA256: 'abc' }),
  'icon-malformed': stanza({ Icon: 'file:///icon.png' }),
  'header-malformed': stanza({ Header: 'javascript:x' }),
  'native-depiction-malformed': stanza({ SileoDepiction: 'nowhere' }),
  'relation-malformed': stanza({ Depends: 'b [iphoneos-arm]' }),
  'field-malformed': index('\nno field\n'),
  'field-commented-out': index('\n//Package: a\n'),
  'field-repeated': stanza({ name: 'Again' }),
  'continuation-orphaned': index('\n more\n'),
  'encoding-not-utf8': async () => {
    const [good = {}] = makePackages(1);
    const text = Buffer.from(composeIndex([{ ...good, Name: 'J\xf6rg' }]), 'latin1');
    await serve({ compressions: ['plain'], hashes: [] }, { '/Packages': text });
  },
  'stanza-oversized': stanza({ Description: 'x'.repeat(1_100_000) }),
  'stanza-empty': index('\n# nothing\n'),
  'stanza-duplicate': index(`\n${composeIndex(makePackages(1))}`),
  'records-too-many': beyond(
    { recordsPerRepository: 5 },
    many(6, (number) => brief(`a${number}`, '1')),
  ),
  'versions-too-many': beyond(
    { recordsPerPackage: 5 },
    many(6, (number) => brief('a', `${number}`)),
  ),
  'field-oversized': stanza({ Name: 'x'.repeat(limits.lineCharacters + 1) }),
  'record-oversized': stanza({
    Description: '\u8a00'.repeat(limits.fieldCharacters),
    Depends: '\u8a00'.repeat(limits.fieldCharacters),
  }),
  'publication-too-large': beyond(
    { packageBytes: 200_000 },
    many(5, (number) => brief('a', `${number}`, `Description: ${'\u8a00'.repeat(20_000)}\n`)),
  ),
  'provides-too-many': beyond({ providesPerPackage: 5 }, stanza({ Provides: 'v1, v2, v3, v4, v5, v6' })),
  'sections-too-many': beyond({ sections: 5 }, () =>
    serve({ packages: makePackages(6).map((given, number) => ({ ...given, Section: `Section ${number}` })) }),
  ),
};

const sized = (Size: string) =>
  generateRepository({ packages: makePackages(1).map((fields) => ({ ...fields, Size })) });

/** What brings about each finding of comparing, and what then is found; the compiler asks for one of each. */
const ofComparing: Record<keyof typeof comparedTexts, () => Promise<string[]>> = {
  'package-bytes-changed': async () => {
    const state = temporaryFolder();
    bench.origin.serve('repo', await sized('1'));
    expect(await findCodes({ state })).toEqual([]);
    bench.origin.serve('repo', await sized('2'));
    bench.pass(86_400);
    return findCodes({ state });
  },
  'package-diverges': async () => {
    bench.origin.serve('repo', await sized('1'));
    bench.origin.serve('other', await sized('2'));
    return findCodes({ slugs: ['repo', 'other'] });
  },
};

describe('every finding that has a code', () => {
  it.each(Object.entries(ofComparing))('C8: %s is found by comparing', async (code, find) => {
    expect(await find()).toEqual([code]);
  });

  it.each(Object.entries({ ...ofRelease, ...ofIndex }))('C8: %s is found by a crawl', async (code, bringAbout) => {
    await bringAbout();
    expect(await findCodes()).toContain(code);
  });

  it('C8: a repository that has none of it has no finding', async () => {
    await serve({});
    expect(await findCodes()).toEqual([]);
  });
});
