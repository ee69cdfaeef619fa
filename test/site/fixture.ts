import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseRelease } from '../../src/apt/release.ts';
import { updateComparedFindings, updateDivergences } from '../../src/catalog/divergence.ts';
import { indexRepository, ingestRepository } from '../../src/catalog/ingest.ts';
import type { ShownBuild } from '../../src/catalog/last-build.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { createTables } from '../../src/catalog/schema.ts';
import { SearchWriter } from '../../src/catalog/search-writer.ts';
import type { Finding } from '../../src/contract/findings.ts';
import { addressKey, manifestEntrySchema } from '../../src/contract/manifest.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { readDepiction } from '../../src/depictions/read-depiction.ts';
import { DepictionStore } from '../../src/snapshots/depiction-store.ts';
import { recordKey, type Sight } from '../../src/snapshots/record-history.ts';

/** A made-up repository: a manifest entry and the text of its files. */
export interface Source {
  readonly entry: Readonly<Record<string, unknown>> & { readonly slug: string };
  readonly release: string;
  readonly packages: string;
  readonly at: string;
  /** What its last visit found. */
  readonly findings?: readonly Finding[];
  /** Records that it had before, by package and version; all others are news then. Without it nothing is news. */
  readonly before?: readonly (readonly [id: string, version: string])[];
}

// Before any of the sources.
const longAgo = '2026-01-01T10:00:00.000Z';

const historyOf = ({ before }: Source, origin: { uri: string; suite: string }) =>
  before && {
    address: addressKey({ component: null, binary: null, ...origin }),
    records: new Map(
      before.map(([id, version]): [string, Sight] => [
        recordKey(id, version, 'iphoneos-arm64'),
        { seen: longAgo, news: false, goneAt: null, changedAt: null },
      ]),
    ),
  };

const pathOf = ({ suite, component, binary }: Source['entry']): string =>
  suite === undefined ? '/Packages' : `/dists/${suite}/${component}/binary-${binary}/Packages`;

/** Writes how often packages were downloaded into a catalog, as the publication of that list does. */
export const countDownloads = (file: string, counts: Readonly<Record<string, number>>): void => {
  const data = Object.entries(counts).map(([id, count]) => ({ package_id: id, total: 3 * count, last_30_days: count }));
  const database = CatalogFile.open(file);
  database
    .prepareWrite("INSERT OR REPLACE INTO document (path, digest, date, size, text) VALUES (?, x'00', ?, 1, ?)")
    .run(documentPath.downloads, longAgo, JSON.stringify({ data }));
  database.close();
};

const evil = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
/** A native depiction of every kind of view that is shown, with what a stranger would try. */
export const telling = {
  class: 'DepictionTabView',
  minVersion: '0.1',
  tintColor: '#1a7f64',
  tabs: [
    {
      tabname: 'Details',
      class: 'DepictionStackView',
      views: [
        {
          class: 'DepictionScreenshotsView',
          screenshots: [
            { url: 'https://shots.example/1.png', accessibilityText: 'The home screen' },
            { url: 'https://shots.example/2.png' },
            { url: 'javascript:alert(1)' },
          ],
        },
        {
          class: 'DepictionMarkdownView',
          markdown: `**Themes** for all of it, [as said](https://a.example/x). ${evil} [no](javascript:alert(1))\n\n- one\n- \`two\`\n- ثلاثة`,
        },
        { class: 'DepictionTableTextView', title: `Works ${evil}`, text: `with &lt;${evil}&gt; a${'b'.repeat(200)}` },
        {
          class: 'DepictionMarkdownView',
          markdown: '```\n<b>a long line of code that is wider than a phone, and then some more of it</b>\n```',
        },
      ],
    },
    {
      tabname: `Changelog \u202e${evil}`,
      class: 'DepictionStackView',
      views: [
        { class: 'DepictionSubheaderView', title: '1.5.1' },
        { class: 'DepictionMarkdownView', markdown: 'Mended.' },
      ],
    },
  ],
};

/** Keeps what may be shown of this as the native depiction of SnowBoard. Returns the folder that it is kept in. */
export const keepDepiction = async (folder: string, given: unknown): Promise<string> => {
  const depiction = readDepiction(Buffer.from(JSON.stringify(given)));
  if (depiction === undefined) throw new Error('nothing of it may be shown');
  await new DepictionStore(folder).write('alpha', 'https://tellings.example/snowboard.json', depiction);
  return folder;
};

/** A stanza from its fields; the usual ones are filled in. */
export const stanza = (fields: Readonly<Record<string, string>>): string => {
  const all: Record<string, string> = { Version: '1.0', Architecture: 'iphoneos-arm64', Size: '2048', ...fields };
  all.Filename ??= `debs/${encodeURIComponent(all.Package ?? '')}_${all.Version}.deb`;
  return `${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n\n`;
};

/** Writes a catalog of these repositories to a file, through the catalog's own code. */
export const writeCatalog = async (file: string, sources: readonly Source[], base: string): Promise<void> => {
  rmSync(file, { force: true });
  // As a build does: if each row were a transaction of its own, writing them would take most of the time of the tests.
  const database = CatalogFile.openDraft(file);
  database.exec('BEGIN');
  createTables(database);
  const sink = new SearchWriter(database);
  const touched = new Set<string>();
  for (const source of sources) {
    const { entry, release, packages, at, before } = source;
    const content = { release: parseRelease(Buffer.from(release)), indexes: [[Buffer.from(packages)]] };
    const snapshot = {
      slug: entry.slug,
      origin: { uri: String(entry.uri), suite: String(entry.suite ?? './'), component: null, binary: null },
      changedAt: at,
      checkedAt: at,
      release: { path: '/Release', sha256: hash('sha256', release) },
      packages: { path: pathOf(entry), sha256: hash('sha256', packages), compression: 'plain' as const },
      packagesOfAll: null,
      hasReleaseGpg: false,
      hasInRelease: false,
      paymentEndpoint: null,
      findings: [],
      signing: { state: 'unsigned', signers: [], remembered: [] },
    };
    const result = await ingestRepository(
      database,
      manifestEntrySchema.parse(entry),
      snapshot as unknown as Parameters<typeof ingestRepository>[2],
      content,
      {
        addressing: { base },
        now: at,
        source: hash('sha256', packages),
        findings: source.findings ?? [],
        ...(before ? { history: historyOf(source, snapshot.origin), addedAt: longAgo } : {}),
      },
    );
    for (const name of result.touched) touched.add(name);
    await indexRepository({ database, levelOf: () => 0, sink }, entry.slug);
  }
  sink.finish();
  updateDivergences(database, touched);
  updateComparedFindings({ database, writable: () => database }, new Date(0));
  database.exec('COMMIT');
  database.close();
};

/** Text that would do harm if any of it were taken for markup, an address or a path. */
export const hostile = {
  id: 'com.evil.<script>alert(1)</script>',
  name: `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`,
  description:
    `</p><script>document.title='owned'</script> see javascript:alert(1) and https://ok.example/a"onmouseover="alert(1)\n` +
    ` <a href="javascript:alert(2)">x</a> &lt;b&gt; \u202ereversed`,
  author: `<svg/onload=alert(3)> <evil@example.org>`,
};

const manyPackages = (length: number): string =>
  Array.from({ length }, (_, index) =>
    stanza({ Package: `com.many.p${index}`, Name: `Many ${String(index).padStart(3, '0')}`, Section: 'Themes' }),
  ).join('');

/** Repositories with something of everything that the pages show. */
export const sources: readonly Source[] = [
  {
    entry: { slug: 'alpha', uri: 'https://alpha.example/repo/', ranking: 1, aliases: ['oldalpha', 'many'] },
    release: 'Origin: Alpha Repo\nDescription: Tweaks & tools\nDate: Mon, 01 Jun 2026 10:00:00 UTC\n',
    at: '2026-11-18T10:00:00.000Z',
    packages: [
      stanza({
        Package: 'com.alpha.snowboard',
        Name: 'SnowBoard',
        Version: '1.5.1',
        Section: 'Tweaks',
        Author: 'Ada Example <ada@example.org>',
        Description:
          'Themes for every icon\n Read more at https://alpha.example/snow (or not).\n .\n - first\n - second',
        Depends: 'com.alpha.lib (>= 1.0), mobilesubstrate | ellekit, firmware (>= 14.0)',
        Conflicts: 'com.alpha.gone',
        Homepage: 'https://alpha.example/snowboard',
        Icon: 'https://icons.example/missing.png',
        SileoDepiction: 'https://tellings.example/snowboard.json',
        SHA256: 'a'.repeat(64),
        Tag: 'purpose::theming, role::enduser',
        'Installed-Size': '120',
      }),
      stanza({ Package: 'com.alpha.snowboard', Name: 'SnowBoard', Version: '1.4', Section: 'Tweaks' }),
      // Beta has this version with other bytes.
      stanza({ Package: 'com.alpha.snowboard', Name: 'SnowBoard', Version: '1.3', Section: 'Tweaks', Size: '4096' }),
      stanza({
        Package: 'com.alpha.snowboard',
        Name: 'SnowBoard',
        Version: '1.5.1',
        Architecture: 'iphoneos-arm64e',
        SHA256: 'b'.repeat(64),
      }),
      stanza({ Package: 'com.alpha.lib', Name: 'Alpha Library', Section: 'Libraries', Author: 'Ada Example' }),
      // States the same as the version after it, and another thing than the one before.
      stanza({ Package: 'com.alpha.lib', Name: 'Alpha Library', Version: '0.9', Section: 'Libraries' }),
      stanza({ Package: 'com.alpha.lib', Name: 'Alpha Library', Version: '0.8', Depends: 'ellekit' }),
      stanza({
        Package: 'com.alpha.paid',
        Name: 'NoFomoFix',
        Section: 'Tweaks (iOS 15)',
        Tag: 'cydia::commercial',
        Author: 'Ada Example',
      }),
      stanza({
        Package: 'com.alpha.escaping',
        Name: 'Escaping',
        Filename: '../../../etc/passwd',
        Homepage: 'javascript:alert(1)',
      }),
      stanza({ Package: '..', Name: 'Two dots' }),
      stanza({
        Package: 'com.alpha.ezsecretsettings',
        Name: 'EzSecretSettings',
        Version: '1.0.3-14+debug',
        Description: 'Settings that the system hides',
      }),
      stanza({ Package: 'Com.Alpha.Lib', Name: 'Other case' }),
      stanza({
        Package: hostile.id,
        Name: hostile.name,
        Description: hostile.description,
        Author: hostile.author,
        Section: `<i>Tweaks`,
        Version: '1.0<b>',
      }),
      'Package: com.alpha.broken\nVersion: 1.0\nArchitecture: iphoneos-arm64\n\n',
    ].join(''),
  },
  {
    entry: { slug: 'beta', uri: 'http://beta.example', ranking: 3 },
    release: `Origin: Beta\nDescription: ${'It tells a long story of itself. '.repeat(60)}\n`,
    at: '2026-11-19T10:00:00.000Z',
    before: [['com.alpha.snowboard', '1.2']],
    packages:
      stanza({ Package: 'com.alpha.snowboard', Name: 'SnowBoard', Version: '1.3', Section: 'Tweaks' }) +
      stanza({
        Package: 'com.beta.only',
        Name: 'Only in Beta',
        Section: 'System',
        Author: 'Bob Example & Ada Example',
        Description: `A long one\n ${'It does a thing and says so. '.repeat(60)}`,
      }),
  },
  {
    entry: { slug: 'many', uri: 'https://many.example', ranking: 4 },
    release: 'Origin: Many packages\n',
    at: '2026-11-17T10:00:00.000Z',
    packages: manyPackages(240),
  },
  {
    entry: {
      slug: 'suited',
      uri: 'https://suited.example/apt',
      suite: 'stable',
      component: 'main',
      binary: 'iphoneos-arm64',
      ranking: 2,
      bootstrap: true,
    },
    release: 'Origin: SuitedForPhones\n',
    at: '2026-11-16T10:00:00.000Z',
    packages: stanza({ Package: 'ellekit', Name: 'ElleKit', Provides: 'mobilesubstrate', Section: 'System' }),
  },
];

/** The same with so many of the many packages: few, where it does not matter how long a list is, are half of the work. */
export const sourcesWith = (length: number): readonly Source[] =>
  sources.map((source) => (source.entry.slug === 'many' ? { ...source, packages: manyPackages(length) } : source));
export const fewSources = sourcesWith(3);

const builtAt = '2026-11-20T10:00:00.000Z';

export const lastBuild: ShownBuild = {
  builtAt,
  repositories: [
    {
      slug: 'alpha',
      uri: 'https://alpha.example/repo/',
      outcome: 'fresh',
      code: null,
      reason: null,
      confirmedAt: builtAt,
      history: `${'u'.repeat(29)}f`,
      findings: [{ code: 'package-diverges', since: '2026-11-01T09:00:00.000Z' }],
    },
    {
      slug: 'beta',
      uri: 'http://beta.example',
      outcome: 'stale',
      code: 'too-slow',
      reason: 'It answers too slowly.',
      since: '2026-11-17T11:00:00.000Z',
      confirmedAt: '2026-11-17T10:00:00.000Z',
      history: `${'u'.repeat(20)}sss-uu${'s'.repeat(4)}`,
    },
    { slug: 'many', uri: 'https://many.example', outcome: 'unchanged', code: null, reason: null, confirmedAt: builtAt },
    {
      slug: 'suited',
      uri: 'https://suited.example/apt',
      outcome: 'unchanged',
      code: null,
      reason: null,
      confirmedAt: builtAt,
    },
    {
      slug: 'gone',
      uri: 'https://gone.example',
      outcome: 'failed',
      code: 'unreachable',
      reason: 'No such host.',
      confirmedAt: null,
      history: '-xxx',
    },
  ],
  builds: Array.from({ length: 30 }, (_, index) => ({
    date: new Date(Date.parse(builtAt) - (29 - index) * 3_600_000).toISOString(),
    ended: index === 23 ? ('failed' as const) : ('published' as const),
    repositories: { fresh: 1, unchanged: 2, stale: index > 25 ? 1 : 0, failed: 0, unvisited: 0 },
    packages: { added: 0, updated: 0, removed: 0 },
  })),
};

/** A folder that is removed when the tests of the file have run. */
export const temporaryFolder = (): { readonly folder: string; readonly remove: () => void } => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-site-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
