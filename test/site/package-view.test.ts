import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sayRedirect } from '../../src/contract/redirected.ts';
import type { SafetyEntry } from '../../src/contract/safety.ts';
import {
  computeDivergenceView,
  divergenceText,
  divergenceTitle,
  type ShownDivergence,
} from '../../src/site/divergences.ts';
import { computePackageView, type PackageView } from '../../src/site/package-view.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { lastBuild, type Source, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

const { folder, remove } = temporaryFolder();
let catalog: SiteCatalog;
const view = (id: string): PackageView => {
  const found = computePackageView(catalog, id);
  if (found === undefined) throw new Error(`no package ${id}`);
  return found;
};

const tweak = (fields: Readonly<Record<string, string>>) =>
  stanza({ Package: 'org.t.tweak', Name: 'Tweak', Architecture: 'iphoneos-arm', ...fields });
const a = 'a'.repeat(64);
const b = 'b'.repeat(64);

const own: Source = {
  entry: { slug: 'own', uri: 'https://own.example/', ranking: 2 },
  release: 'Origin: Own\n',
  at: '2026-11-01T10:00:00.000Z',
  packages: [
    tweak({
      Version: '1.0',
      Size: '1000',
      Depends: 'mobilesubstrate, org.t.old',
      Description: 'An awesome MobileSubstrate tweak!',
    }),
    tweak({
      Version: '1.1',
      Size: '1010',
      Depends: 'mobilesubstrate, org.t.old',
      Description: 'Now it says what it does',
    }),
    tweak({
      Version: '1.1.1',
      Size: '1020',
      Depends: 'mobilesubstrate, org.t.old',
      Description: 'Now it says what it does',
    }),
    tweak({
      Version: '2.0',
      Size: '3000',
      Depends: 'mobilesubstrate, org.t.lib (>= 2), org.t.base, org.t.near | org.t.lib, firmware (>= 14.0), unheard-of',
      Description: 'Now it says what it does',
      SHA256: a,
    }),
    tweak({ Version: '2.0', Architecture: 'iphoneos-arm64', Size: '900', Description: 'Now it says what it does' }),
    stanza({ Package: 'org.t.near', Architecture: 'all', Description: 'A simple MobileSubstrate tweak!' }),
  ].join(''),
};
const copies: readonly Source[] = [
  {
    entry: { slug: 'behind', uri: 'https://behind.example/', ranking: 3 },
    release: 'Origin: Behind\n',
    at: '2019-05-01T10:00:00.000Z',
    packages: tweak({ Version: '1.1', SHA256: b }),
  },
  {
    entry: { slug: 'other-bytes', uri: 'https://bytes.example/', ranking: 4 },
    release: 'Origin: Other bytes\n',
    at: '2026-11-01T10:00:00.000Z',
    packages: tweak({ Version: '2.0', SHA256: b }),
  },
  {
    entry: { slug: 'libraries', uri: 'https://libraries.example/', ranking: 3 },
    release: 'Origin: Libraries\n',
    at: '2026-11-01T10:00:00.000Z',
    packages: stanza({ Package: 'org.t.lib', Name: 'Library' }) + stanza({ Package: 'org.t.old', Name: 'Old' }),
  },
  {
    entry: { slug: 'base', uri: 'https://base.example/', ranking: 1, bootstrap: true },
    release: 'Origin: Base\n',
    at: '2018-11-01T10:00:00.000Z',
    packages: stanza({ Package: 'org.t.base', Name: 'Base' }),
  },
  {
    entry: { slug: 'linux', uri: 'https://linux.example/', ranking: 5 },
    release: 'Origin: Linux\n',
    at: '2026-11-01T10:00:00.000Z',
    packages:
      stanza({ Package: 'linux-all', Architecture: 'all', Author: 'Ada' }) +
      stanza({ Package: 'linux-arm', Architecture: 'arm64', Author: 'Ada' }) +
      stanza({ Package: 'linux-both', Architecture: 'arm64', Author: 'Ada and Cid' }),
  },
];

const troubled = { slug: 'libraries', outcome: 'stale', uri: '', code: null, reason: null } as const;

beforeAll(async () => {
  const file = path.join(folder, 'catalog.sqlite');
  await writeCatalog(file, [own, ...copies], 'https://index.example');
  catalog = new SiteCatalog(file, {
    ...lastBuild,
    repositories: [{ ...troubled, confirmedAt: '2026-11-02T10:00:00.000Z' }],
  });
});
afterAll(() => {
  catalog.close();
  remove();
});

/** The page of the tweak in an index of these repositories alone. */
const viewIn = async (...sources: readonly Source[]): Promise<PackageView> => {
  const file = path.join(folder, 'others.sqlite');
  await writeCatalog(file, sources, 'https://a.example');
  const other = new SiteCatalog(file, lastBuild);
  const seen = computePackageView(other, 'org.t.tweak');
  other.close();
  return seen ?? expect.unreachable('no tweak');
};

describe('the page of a package', () => {
  it('says what changed from one version to the next, and leaves out versions alike', () => {
    const { changes } = view('org.t.tweak');
    expect(changes.map(({ version, before }) => [version, before])).toEqual([
      ['2.0', '1.1.1'],
      ['1.1', '1.0'],
    ]);
    const [second, first] = changes;
    expect(second?.architectures).toEqual({ gained: ['iphoneos-arm64'], first: ['iphoneos-arm64'], lost: [] });
    expect(second?.needs.lost).toEqual(['org.t.old']);
    expect(second?.needs.gained).toContain('org.t.lib (>= 2)');
    expect(second?.size).toEqual({ before: 1020, after: 3000 });
    expect(second?.description).toBeUndefined();
    // A template's text is none, so the first description is one more.
    expect(first).toMatchObject({ description: 'new', size: undefined, needs: { gained: [], lost: [] } });
  });

  it('says whether there are changes before the last six, which alone are shown', async () => {
    const inVersions = (count: number, ofLast = 1000): Promise<PackageView> => {
      const versions = Array.from({ length: count }, (_, at) =>
        tweak({ Version: `1.${at}`, Description: at === 0 ? 'No. 1' : `No. ${Math.min(at, ofLast)}` }),
      );
      return viewIn({ ...own, packages: versions.join('') });
    };
    const shown = ({ changes, hasEarlierChanges }: PackageView) => [
      changes.length,
      changes[0]?.version,
      hasEarlierChanges,
    ];
    // The first two versions are alike.
    expect(shown(await inVersions(8))).toEqual([6, '1.7', false]);
    expect(shown(await inVersions(9))).toEqual([6, '1.8', true]);
    expect(shown(await inVersions(20, 2))).toEqual([1, '1.2', false]);
  });

  it('says whether a description is new or gone, of which a template is none', async () => {
    const texts = ['Once.', 'Twice.', 'An awesome MobileSubstrate tweak!', 'Thrice.'];
    const packages = texts.map((Description, index) => tweak({ Version: `${index + 1}`, Description })).join('');
    const { changes } = await viewIn({ ...own, packages });
    expect(changes.map(({ description }) => description)).toEqual(['new', 'gone', 'new']);
  });

  it('says of a package that is still needed which versions do now, and not that it is needed no longer', async () => {
    const depends = ['org.t.lib, org.t.gui | org.t.tui, org.t.old', 'org.t.lib (>=2.0), org.t.gui (>= 3) | org.t.tui'];
    const spaced = 'org.t.lib  ( >= 2.0 ), org.t.gui (>=3)|org.t.tui, org.t.new (>= 1), org.t.new (<< 2)';
    const packages = [...depends, spaced].map((Depends, index) => tweak({ Version: `${index + 1}`, Depends })).join('');
    const { changes } = await viewIn({ ...own, packages });
    expect(changes.map(({ needs }) => needs)).toEqual([
      { gained: ['org.t.new (>= 1)', 'org.t.new (<< 2)'], lost: [], bounded: [] },
      {
        gained: [],
        lost: ['org.t.old'],
        bounded: [
          { now: 'org.t.lib (>=2.0)', before: 'org.t.lib' },
          { now: 'org.t.gui (>= 3) or org.t.tui', before: 'org.t.gui or org.t.tui' },
        ],
      },
    ]);
  });

  it('says what changed in any of its builds, and in which where that is not all', async () => {
    const [rootful, rootless] = ['iphoneos-arm', 'iphoneos-arm64'] as const;
    const builds = (Version: string, ...fields: Readonly<Record<string, string>>[]) =>
      [rootful, rootless]
        .map((Architecture, index) => tweak({ Version, Architecture, Size: '1000', ...fields[index] }))
        .join('');
    const { changes } = await viewIn({
      ...own,
      packages: [
        builds('1', { Depends: 'org.t.old, org.t.gui' }, { Depends: 'org.t.old, org.t.gui (>= 1)' }),
        builds('2', { Depends: 'org.t.new, org.t.gui' }, { Depends: 'org.t.new, org.t.gui (>= 2), org.t.more' }),
        builds('3', { Depends: 'org.t.new, org.t.gui' }, { Depends: 'org.t.new, org.t.gui (>= 2)', Size: '2000' }),
      ].join(''),
    });
    expect(changes.map(({ version, needs, size }) => [version, needs, size])).toEqual([
      ['3', { gained: [], lost: ['org.t.more (rootless)'], bounded: [] }, { before: 1000, after: 2000 }],
      [
        '2',
        {
          gained: ['org.t.new', 'org.t.more (rootless)'],
          lost: ['org.t.old'],
          bounded: [{ now: 'org.t.gui (>= 2) (rootless)', before: 'org.t.gui (>= 1)' }],
        },
        undefined,
      ],
    ]);
  });

  it('says of a version whose builds are for other devices which builds these are, and compares no two of them', async () => {
    const packages = [
      tweak({ Version: '1', Size: '1000', Depends: 'org.t.old', Description: 'For rootful jailbreaks' }),
      tweak({
        Version: '2',
        Architecture: 'iphoneos-arm64',
        Size: '3000',
        Depends: 'org.t.new',
        Description: 'For rootless jailbreaks',
      }),
    ];
    const { changes } = await viewIn({ ...own, packages: packages.join('') });
    expect(changes).toEqual([
      {
        version: '2',
        before: '1',
        architectures: { gained: ['iphoneos-arm64'], first: ['iphoneos-arm64'], lost: ['iphoneos-arm'] },
        needs: { gained: [], lost: [], bounded: [] },
        size: undefined,
        description: undefined,
      },
    ]);
  });

  it('sets the repositories that have it beside each other: which is behind, and which has other bytes', () => {
    const all = view('org.t.tweak').copies;
    expect(all.map(({ slug, version, behind }) => [slug, version, behind])).toEqual([
      ['own', '2.0', undefined],
      ['behind', '1.1', '2.0'],
      ['other-bytes', '2.0', undefined],
    ]);
    // Neither is known to be the right one, so each says of its own what tells them apart.
    const file = (size: number, sha256: string) => ({ architecture: 'iphoneos-arm', size, sha256 });
    expect(all.map(({ differs }) => differs)).toEqual([
      { version: '2.0', files: [file(3000, a)], from: 'Other bytes' },
      { version: '1.1', files: [file(2048, b)], from: 'Own' },
      { version: '2.0', files: [file(2048, b)], from: 'Own' },
    ]);
    const { latest } = view('org.t.tweak');
    expect(latest.map(({ slug, isNewest }) => [slug, isNewest])).toEqual([
      ['own', true],
      ['own', true],
      ['behind', false],
      ['other-bytes', true],
    ]);
    expect(view('org.t.lib').copies).toEqual([]);
  });

  it('C11: says which version a repository has of a build that is older than its newest', async () => {
    const [behind] = copies as [Source];
    const [, old] = (
      await viewIn(own, {
        ...behind,
        packages: tweak({ Version: '2.0' }) + tweak({ Version: '1.1', Architecture: 'iphoneos-arm64' }),
      })
    ).copies;
    expect([old?.version, old?.builds]).toEqual([
      '2.0',
      [
        { architecture: 'iphoneos-arm', older: undefined },
        { architecture: 'iphoneos-arm64', older: '1.1' },
      ],
    ]);
  });

  it('takes the newest version of all for the newest, where the best repository is behind too', async () => {
    const [behind] = copies as [Source];
    const { latest } = await viewIn(own, { ...behind, entry: { ...behind.entry, ranking: 1 } });
    expect(latest.map(({ slug, isNewest }) => [slug, isNewest])).toEqual([
      ['behind', false],
      ['own', true],
      ['own', true],
    ]);
  });

  it('offers what a safe repository has where the best one, or one with a newer version, is unsafe', async () => {
    const [, third] = copies.filter(({ entry }) => entry.slug !== 'libraries') as [Source, Source];
    const listed = (host: string) => ({ host, reason: 'A trap', date: '2026-11-20', source: 'https://a.example/' });
    const file = path.join(folder, 'unsafe.sqlite');
    const newer = tweak({ Version: '9.0' }) + tweak({ Architecture: 'iphoneos-arm64e', Version: '9.0' });
    const between = tweak({ Version: '1.0.5' }) + tweak({ Version: '8.0' });
    await writeCatalog(file, [own, { ...third, packages: newer + between }], 'https://index.example');
    const seen = (...hosts: string[]): PackageView => {
      const opened = new SiteCatalog(file, lastBuild, undefined, hosts.map(listed));
      const found = computePackageView(opened, 'org.t.tweak');
      opened.close();
      return found ?? expect.unreachable('no tweak');
    };
    const told = ({ repository, summary, copies: all, latest, links }: PackageView) => [
      repository.slug,
      summary.version,
      all.map(({ slug, behind }) => [slug, behind]),
      latest.filter(({ isNewest }) => isNewest).map(({ slug }) => slug),
      links.find(({ manager }) => manager === 'Zebra')?.href.split('source=')[1],
    ];
    const fromOther = ['other-bytes', undefined];
    const others = ['other-bytes', 'other-bytes'];
    expect(told(seen('own.example'))).toEqual([
      'other-bytes',
      '9.0',
      [fromOther, ['own', '9.0']],
      others,
      'https://bytes.example/',
    ]);
    // What is newer there makes no other copy an old one.
    const best = seen('bytes.example');
    expect(told(best)).toEqual(['own', '2.0', [['own', undefined], fromOther], ['own', 'own'], 'https://own.example/']);
    expect(best.buildsElsewhere.map(({ build, doubt }) => [build, doubt?.kind])).toEqual([
      ['rootful', 'unsafe'],
      ['roothide', 'unsafe'],
    ]);
    // The newest of all repositories come first, and what is unsafe last.
    const older = (...hosts: string[]) => seen(...hosts).older.map(({ version }) => version);
    expect(older()).toEqual(['8.0', '1.1.1', '1.1', '1.0.5', '1.0']);
    expect(older('bytes.example')).toEqual(['1.1.1', '1.1', '1.0', '8.0', '1.0.5']);
    // Lists leave these out, but not all that there are.
    expect([...best.summary.unsafeIn]).toEqual(['other-bytes']);
    expect([...seen('own.example', 'bytes.example').summary.unsafeIn]).toEqual([]);
    expect(best.latest.filter((row) => row.isUnsafe).map((row) => [row.slug, row.download])).toEqual([
      ['other-bytes', undefined],
      ['other-bytes', undefined],
    ]);
  });

  it('lists the newest two hundred older versions with the iOS of each, and says how many there are', async () => {
    const file = path.join(folder, 'versions.sqlite');
    const packages = Array.from({ length: 301 }, (_, number) =>
      tweak({ Version: `1.${number}`, Depends: `firmware (>= ${number % 2 === 0 ? '10.0' : '11.0'})` }),
    ).join('');
    await writeCatalog(file, [{ ...own, packages }], 'https://index.example');
    const opened = new SiteCatalog(file, lastBuild);
    const { latest = [], older = [], olderTotal } = computePackageView(opened, 'org.t.tweak') ?? {};
    opened.close();
    expect([latest.length, older.length, olderTotal]).toEqual([1, 200, 300]);
    expect([older[0], older.at(-1)].map((row) => [row?.version, row?.ios])).toEqual([
      ['1.299', 'iOS 11 or newer'],
      ['1.100', 'iOS 10 or newer'],
    ]);
  });

  it('leads to older versions where one of them allows an iOS that the latest for its devices exclude', async () => {
    let safety: SafetyEntry[] = [];
    let states: readonly (string | undefined)[] | undefined;
    const lead = async (
      ...versions: readonly (readonly [version: string, Depends: string, Architecture?: string])[]
    ) => {
      const file = path.join(folder, 'other-ios.sqlite');
      const packages = versions
        .map(([Version, Depends, Architecture = 'iphoneos-arm']) => tweak({ Version, Depends, Architecture }))
        .join('');
      await writeCatalog(file, [{ ...own, packages }], 'https://index.example');
      const opened = new SiteCatalog(file, lastBuild, undefined, safety);
      const view = computePackageView(opened, 'org.t.tweak');
      opened.close();
      expect(view?.olderTotal).toBeGreaterThan(0);
      states = view?.older.map((row) => row.states);
      return view?.isForOtherIos;
    };
    const from = (version: number) => `firmware (>= ${version})`;
    expect(await lead(['2', from(14)], ['1', from(13)])).toBe(true);
    expect(await lead(['2', from(14)], ['1', 'firmware (<< 14), firmware (>= 12)'])).toBe(true);
    expect(states).toEqual(['rootful=12.0-14.0']);
    // In other words, and nothing that the newest excludes.
    expect(await lead(['2', from(14)], ['1', from(15)])).toBe(false);
    expect(await lead(['2', from(14)], ['1', 'firmware (>= 14), firmware (<< 15)'])).toBe(false);
    expect(states).toEqual([undefined]);
    // Nobody says that it runs elsewhere, or that the newest does not.
    expect(await lead(['2', from(14)], ['1', 'mobilesubstrate'])).toBe(false);
    expect(await lead(['2', 'mobilesubstrate'], ['1', from(13)])).toBe(false);
    const [rootless, all] = ['iphoneos-arm64', 'all'];
    expect(await lead(['2', from(15), rootless], ['2', from(14)], ['1', from(13), rootless])).toBe(true);
    expect(await lead(['2', from(15), rootless], ['2', from(14)], ['1', from(14)])).toBe(false);
    expect(await lead(['2', 'ellekit', rootless], ['2', from(14)], ['1', from(13)])).toBe(true);
    expect(await lead(['2', from(15), rootless], ['2', from(14), all], ['1', from(14), all])).toBe(false);
    expect(await lead(['2', from(15)], ['2', from(14), all], ['1', from(13), all])).toBe(true);
    // For the devices that its repository serves.
    expect(states).toEqual(['all:rootful=13.0-']);
    safety = [{ host: 'own.example', reason: 'A trap', date: '2026-11-20', source: 'https://a.example/' }];
    expect(await lead(['2', from(14)], ['1', from(13)])).toBe(false);
  });

  it('C8: says of each version, older ones too, where else it has other bytes, and when they changed', async () => {
    const file = path.join(folder, 'changed.sqlite');
    const [first, , third] = [own, ...copies] as [Source, Source, Source];
    const older = { ...third, packages: tweak({ Version: '1.1', Size: '9' }) + tweak({ Version: '2.0', SHA256: a }) };
    await writeCatalog(file, [first, older], 'https://index.example');
    const database = new DatabaseSync(file);
    database.exec(`UPDATE record SET changed_at = '2026-11-03T00:00:00.000Z' WHERE version = '1.1.1'`);
    database.close();
    const other = new SiteCatalog(file, lastBuild);
    const found = computePackageView(other, 'org.t.tweak');
    const { pairs, changed } = computeDivergenceView(other);
    other.close();
    const rows = [...(found?.latest ?? []), ...(found?.older ?? [])];
    const told = rows.flatMap(({ slug, version, otherBytesIn, bytesChangedAt }) =>
      otherBytesIn === undefined && bytesChangedAt === undefined ? [] : [[slug, version, otherBytesIn, bytesChangedAt]],
    );
    expect(told).toEqual([
      // Its SHA-256 is the same, and its size is not.
      ['own', '2.0', 'Other bytes', undefined],
      ['other-bytes', '2.0', 'Own', undefined],
      ['own', '1.1.1', undefined, '2026-11-03T00:00:00.000Z'],
      ['own', '1.1', 'Other bytes', undefined],
      ['other-bytes', '1.1', 'Own', undefined],
    ]);
    expect(pairs.map(divergenceTitle)).toEqual(['Other bytes and Own have other bytes for 2 versions']);
    // Of a mirror, which is called as what it mirrors.
    await writeCatalog(file, [first, { ...older, release: 'Origin: Own\n' }], 'https://index.example');
    const again = new DatabaseSync(file);
    again.exec(`UPDATE record SET changed_at = '2026-11-03T00:00:00.000Z' WHERE version = '1.1.1'`);
    again.close();
    const mirrored = new SiteCatalog(file, lastBuild);
    const { pairs: alike, changed: ofOne } = computeDivergenceView(mirrored);
    mirrored.close();
    expect([...alike, ...ofOne].map(({ repositories }) => repositories.map(({ name }) => name))).toEqual([
      ['Own (other-bytes)', 'Own (own)'],
      ['Own (own)'],
    ]);
    expect(changed.map(divergenceTitle)).toEqual(['Own: 1 version changed its bytes']);
    expect(changed.map(divergenceText)).toEqual(['org.t.tweak 1.1.1 (iphoneos-arm)']);
    expect(divergenceText({ ...(changed[0] as ShownDivergence), count: 5 })).toMatch(/, and 4 more$/);
    // Of very many, how many more there are.
    const [one] = changed as readonly [ShownDivergence];
    const pair = { ...one, repositories: ['own', 'two'] as const };
    const event = { ...one, repositories: ['own'] as const };
    const many = { pairs: Array.from({ length: 203 }, () => pair), events: Array.from({ length: 52 }, () => event) };
    const view = computeDivergenceView({
      readDivergences: () => many,
      repository: () => undefined,
      lastBuild: undefined,
    });
    expect([view.pairs.length, view.morePairs, view.changed.length, view.moreChanged]).toEqual([200, 3, 50, 2]);
  });

  it('C8: says of a repository that an older version of it has other bytes elsewhere', async () => {
    const [first, , third] = [own, ...copies] as [Source, Source, Source];
    const { copies: all } = await viewIn(first, { ...third, packages: tweak({ Version: '1.1', Size: '9' }) });
    expect(all.map(({ slug, version, differs }) => [slug, version, differs?.version, differs?.from])).toEqual([
      ['own', '2.0', '1.1', 'Other bytes'],
      ['other-bytes', '1.1', '1.1', 'Own'],
    ]);

    // Of three, two of which are alike.
    const two = { ...first.entry, slug: 'two', uri: 'https://two.example/', ranking: 5 };
    const { copies: three } = await viewIn(first, third, { ...third, entry: two, packages: first.packages });
    expect(three.map(({ slug, differs }) => [slug, differs?.version, differs?.from])).toEqual([
      ['own', '2.0', 'Other bytes (other-bytes)'],
      ['other-bytes', '2.0', 'Own'],
      ['two', '2.0', 'Other bytes (other-bytes)'],
    ]);
  });

  it('C8: compares every copy with every other, since one may say nothing that another contradicts', async () => {
    const from = (slug: string, ranking: number, ...fields: Parameters<typeof tweak>[0][]): Source => ({
      ...own,
      release: `Origin: ${slug}\n`,
      entry: { ...own.entry, slug, uri: `https://${slug}.example/`, ranking },
      packages: fields.map((one) => tweak(one)).join('\n'),
    });
    // The first names no hash, and its size is that of both others.
    const silent = await viewIn(
      from('one', 1, { Size: '10' }),
      from('two', 2, { Size: '10', SHA256: a }),
      from('three', 3, { Size: '10', SHA256: b }),
    );
    expect(silent.copies.map(({ slug, differs }) => [slug, differs?.from])).toEqual([
      ['one', undefined],
      ['two', 'three'],
      ['three', 'two'],
    ]);

    // Another repository for each build.
    const builds = await viewIn(
      from('one', 1, { Size: '10' }, { Size: '10', Architecture: 'iphoneos-arm64' }),
      from('two', 2, { Size: '11' }),
      from('three', 3, { Size: '12', Architecture: 'iphoneos-arm64' }),
    );
    expect(builds.copies[0]?.differs).toEqual({
      version: '1.0',
      files: [{ architecture: 'iphoneos-arm', size: 10, sha256: null }],
      from: 'two',
    });
  });

  it('calls every spelling of the newest version the newest', async () => {
    const sources = ['1.0', '1.0-0', '0.9'].map((version, index): Source => {
      const entry = { ...own.entry, slug: `s${index}`, uri: `https://s${index}.example/` };
      return { ...own, entry, packages: tweak({ Version: version }) };
    });
    const { latest } = await viewIn(...sources);
    expect(latest.map(({ version, isNewest }) => [version, isNewest])).toEqual([
      ['1.0', true],
      ['1.0-0', true],
      ['0.9', false],
    ]);
  });

  it('tells repositories that are called alike apart by their slugs, wherever it names them', async () => {
    const namesake = (slug: string, Origin: string, ranking: number): Source => ({
      entry: { slug, uri: `https://${slug}.example/`, ranking },
      release: `Origin: ${Origin}\n`,
      at: '2026-11-01T10:00:00.000Z',
      packages: tweak({ Version: '1.0', SHA256: slug === 'first' ? a : b }),
    });
    const { repository, latest, copies, stated } = await viewIn(
      namesake('first', 'Reposi3', 2),
      namesake('second', 'reposi3', 3),
      namesake('third', 'Another', 4),
    );
    const names = ['Reposi3 (first)', 'reposi3 (second)', 'Another'];
    expect(repository.name).toBe(names[0]);
    expect(latest.map((row) => row.repository)).toEqual(names);
    expect(copies.map((copy) => copy.repository)).toEqual(names);
    expect(copies.map(({ differs }) => differs?.from)).toEqual([names[1], names[0], names[0]]);
    expect(stated.flatMap(({ of }) => of.map((one) => one.repository))).toEqual(names);
  });

  it('says which other repositories it needs, and nothing of a bootstrap or of what nobody here has', () => {
    expect(view('org.t.tweak').needed).toMatchObject([
      { slug: 'libraries', name: 'Libraries', packages: [{ id: 'org.t.lib', name: 'Library' }] },
    ]);
  });

  it('says for which devices what it needs is there, where it is for others too, and why it may not install', async () => {
    const doubt = { kind: 'failing', since: '2026-11-02T10:00:00.000Z' };
    expect(view('org.t.tweak').needed).toMatchObject([{ doubt, packages: [{ only: ['iphoneos-arm64'] }] }]);
    const only = async (needing: readonly string[], having: readonly string[], beside = '') => {
      const { needed } = await viewIn(
        {
          ...own,
          packages:
            needing.map((Architecture) => tweak({ Architecture, Depends: 'org.t.lib' })).join('') +
            (beside && stanza({ Package: 'org.t.beside', Architecture: beside })),
        },
        {
          ...own,
          entry: { ...own.entry, slug: 'libraries' },
          packages: having.map((Architecture) => stanza({ Package: 'org.t.lib', Architecture })).join(''),
        },
      );
      expect(needed.map(({ doubt }) => doubt)).toEqual([undefined]);
      return needed[0]?.packages[0]?.only;
    };
    const [rootful, rootless] = ['iphoneos-arm', 'iphoneos-arm64'];
    expect(await only([rootful], [rootful, rootless])).toBeUndefined();
    expect(await only([rootful, rootless], ['all'])).toBeUndefined();
    expect(await only([rootful, rootless], [rootful])).toEqual([rootful]);
    expect(await only([rootless], [rootful])).toEqual([rootful]);
    // What is for all of them is for those that its repository serves.
    expect(await only(['all'], [rootful])).toBeUndefined();
    expect(await only(['all'], [rootful], rootful)).toBeUndefined();
    expect(await only(['all'], [rootful], rootless)).toEqual([rootful]);
  });

  it('says of each build what it needs, and in which repositories, where that is not the same for all', async () => {
    const [rootful, rootless, roothide] = ['iphoneos-arm', 'iphoneos-arm64', 'iphoneos-arm64e'];
    const seen = async (...fields: Readonly<Record<string, string>>[]) => {
      const { relations, demands, needed, isNeedy } = await viewIn(
        // Of an older version nothing counts.
        {
          ...own,
          packages: [...fields.map((one) => tweak(one)), tweak({ Version: '0.1', Depends: 'unheard-of' })].join(''),
        },
        ...copies.filter(({ entry }) => entry.slug === 'libraries'),
      );
      const lists = relations.map(({ title, of, list }) => [title, of, list.flat().map(({ name }) => name)]);
      return { lists, demands, isNeedy, needed: needed.map(({ of, packages }) => [of, packages.map(({ id }) => id)]) };
    };
    const lib = 'org.t.lib (>= 2), firmware (>= 11.0)';
    expect(
      await seen(
        { Architecture: rootful, Depends: lib, Recommends: 'org.t.gui' },
        { Architecture: rootless, Depends: 'firmware (>= 15.0)', Recommends: 'org.t.gui' },
        { Architecture: roothide, Depends: 'firmware  (>=15.0)', Recommends: 'org.t.gui' },
      ),
    ).toEqual({
      lists: [
        ['Depends on', [rootful], ['org.t.lib']],
        ['Recommends', [], ['org.t.gui']],
      ],
      demands: [
        { of: [rootful], written: ['firmware (>= 11.0)'] },
        { of: [rootless, roothide], written: ['firmware (>= 15.0)'] },
      ],
      isNeedy: true,
      needed: [[[rootful], ['org.t.lib']]],
    });
    // Where they differ in the device alone, what else they need is said once.
    expect(
      await seen(
        { Architecture: rootful, Depends: 'org.t.lib, firmware (>= 11.0)' },
        { Architecture: rootless, Depends: 'firmware (>= 15.0), org.t.lib' },
      ),
    ).toMatchObject({
      lists: [['Depends on', [], ['org.t.lib']]],
      demands: [{ of: [rootful] }, { of: [rootless] }],
      needed: [[[], ['org.t.lib']]],
    });
    // Of a build beside the best record.
    expect(await seen({ Architecture: rootful }, { Architecture: rootless, Depends: lib })).toEqual({
      lists: [['Depends on', [rootless], ['org.t.lib']]],
      demands: [{ of: [rootless], written: ['firmware (>= 11.0)'] }],
      isNeedy: true,
      needed: [[[rootless], ['org.t.lib']]],
    });
    // Each from the same repository, where each needs another package.
    const both = [
      { Architecture: rootful, Depends: 'org.t.lib' },
      { Architecture: rootless, Depends: 'org.t.old' },
    ];
    expect((await seen(...both)).needed).toEqual([[[], ['org.t.lib', 'org.t.old']]]);
    // What one of them cannot have from there is said, though another one can.
    const { needed } = await viewIn(
      {
        ...own,
        packages: [
          tweak({ Architecture: rootful, Depends: 'org.t.lib' }),
          tweak({ Architecture: rootless, Depends: 'org.t.lib, org.t.gui' }),
        ].join(''),
      },
      ...copies.filter(({ entry }) => entry.slug === 'libraries'),
    );
    expect(needed.flatMap(({ packages }) => packages.map(({ id, only }) => [id, only]))).toContainEqual([
      'org.t.lib',
      [rootless],
    ]);
  });

  it('says which others are needed by what it needs, in its own repository and elsewhere', async () => {
    const from = (slug: string, ...packages: Readonly<Record<string, string>>[]): Source => ({
      ...own,
      entry: { slug, uri: `https://${slug}.example/`, ranking: 3 },
      release: `Origin: ${slug}\n`,
      packages: packages.map((fields) => stanza({ Name: fields.Package ?? '', ...fields })).join(''),
    });
    const needed = async (Depends: string, ...others: readonly Source[]) =>
      (
        await viewIn(
          from(
            'own',
            { Package: 'org.t.tweak', Depends },
            { Package: 'org.t.near', Depends: 'org.t.lib' },
            { Package: 'org.t.loop', 'Pre-Depends': 'org.t.near', Depends: 'org.t.tweak' },
          ),
          from('libraries', { Package: 'org.t.lib', Depends: 'org.t.deep, org.t.both' }, { Package: 'org.t.both' }),
          from('deep', { Package: 'org.t.deep', Depends: 'org.t.near, org.t.unheard-of' }),
          from('another', { Package: 'org.t.both', Version: '2.0', Depends: 'org.t.aside' }),
          from('aside', { Package: 'org.t.aside' }),
          ...others,
        )
      ).needed.map(({ slug, packages }) => [slug, packages.map(({ id }) => id)]);
    const both = [
      ['libraries', ['org.t.lib']],
      ['deep', ['org.t.deep']],
    ];
    expect(await needed('org.t.lib')).toEqual(both);
    expect(await needed('org.t.near')).toEqual(both);
    expect(await needed('org.t.loop')).toEqual(both);
    expect(await needed('org.t.lib | org.t.unheard-of')).toEqual([]);
    // What it depends on itself is named, also where another repository has it too.
    const [libraries, deep] = both;
    expect(await needed('org.t.lib, org.t.both')).toEqual([['libraries', ['org.t.lib', 'org.t.both']], deep]);
    expect(await needed('org.t.both, org.t.lib')).toEqual([
      ['another', ['org.t.both']],
      libraries,
      ['aside', ['org.t.aside']],
      deep,
    ]);
    // Its own repository has it too, but says there of another version what that needs.
    const copy = {
      ...from('own-too', { Package: 'org.t.near' }),
      entry: { ...own.entry, slug: 'own-too', ranking: 1 },
    };
    expect(await needed('org.t.near', copy)).toEqual([]);
  });

  it('follows what is needed no further than 400 relations', async () => {
    const needed = async (others: number): Promise<number> => {
      const padding = Array.from({ length: others }, (_, at) => `unheard-of-${at}`).join();
      const step = (at: number, next: string) =>
        stanza({ Package: `org.t.step-${at}`, Depends: `${padding}, ${next}` });
      const steps = step(1, 'org.t.step-2') + step(2, 'org.t.step-3') + step(3, 'org.t.lib');
      const [libraries] = copies.filter(({ entry }) => entry.slug === 'libraries');
      return (
        await viewIn(
          { ...own, packages: tweak({ Depends: 'org.t.step-1' }) + steps },
          ...(libraries === undefined ? [] : [libraries]),
        )
      ).needed.length;
    };
    expect(await needed(150)).toBe(1);
    expect(await needed(199)).toBe(0);
  });

  it('tells two that are to be added apart by their slugs, where they are called alike', async () => {
    const libraries = copies.find(({ entry }) => entry.slug === 'libraries') as Source;
    const { needed, toAdd } = await viewIn(
      { ...own, packages: tweak({ Depends: 'org.t.lib' }) },
      { ...libraries, release: 'Origin: own\n' },
    );
    expect(needed.map(({ name }) => name)).toEqual(['own (libraries)']);
    expect(toAdd).toEqual([
      { slug: 'own', name: 'Own (own)' },
      { slug: 'libraries', name: 'own (libraries)' },
    ]);
    expect((await viewIn(own)).toAdd).toEqual([]);
  });

  it('C11: calls nothing by a name of which nothing can be seen, be it of a package, a person or a repository', async () => {
    const unseen = '\u200b\u3164\u00ad';
    const { summary, repository, author, description } = await viewIn({
      ...own,
      release: `Origin: ${unseen}\n`,
      packages: tweak({ Name: unseen, Author: unseen, Maintainer: 'Ada', Section: '\u00a0', Description: unseen }),
    });
    expect([summary.name, summary.author, summary.section, summary.summary]).toEqual(['org.t.tweak', 'Ada', null, '']);
    expect([repository.name, author, description]).toEqual(['own', 'Ada', null]);
  });

  it('needs no other repository for a name that its own or a bootstrap provides, unless that is of no version and one is asked for', async () => {
    const libraries = copies.find(({ entry }) => entry.slug === 'libraries') as Source;
    const base = copies.find(({ entry }) => entry.slug === 'base') as Source;
    const neededIn = async (source: Source, provides: string, depends: string) => {
      const provider = stanza({ Package: 'org.t.posing', Provides: provides });
      const packages = source.packages + provider;
      const sources = [{ ...own, packages: tweak({ Depends: depends }) }, libraries, base];
      const { needed } = await viewIn(
        ...sources.map((one) => (one.entry.slug === source.entry.slug ? { ...source, packages } : one)),
      );
      return needed.map(({ slug }) => slug);
    };
    const tweaks = { ...own, packages: tweak({ Depends: 'org.t.lib' }) };
    expect(await neededIn(tweaks, 'org.t.lib', 'org.t.lib')).toEqual([]);
    expect(await neededIn(base, 'org.t.lib', 'org.t.lib')).toEqual([]);
    expect(await neededIn(libraries, 'org.t.lib', 'org.t.lib')).toEqual(['libraries']);
    const versioned = { ...own, packages: tweak({ Depends: 'org.t.lib (>= 1)' }) };
    expect(await neededIn(versioned, 'org.t.lib', 'org.t.lib (>= 1)')).toEqual(['libraries']);
    expect(await neededIn(versioned, 'org.t.lib (= 2)', 'org.t.lib (>= 1)')).toEqual([]);
  });

  it('needs nothing from an unsafe repository where a safe one has an alternative, or provides it too', async () => {
    const having = (slug: string, Package: string): Source => ({
      entry: { slug, uri: `https://${slug}.example/`, ranking: 3 },
      release: `Origin: ${slug}\n`,
      at: own.at,
      packages: stanza({ Package, Provides: 'org.a.any' }),
    });
    const sources = [having('safe', 'org.a.safe'), having('trap', 'org.a.first')];
    const neededFor = async (Depends: string, isListed: boolean) => {
      const file = path.join(folder, 'trap.sqlite');
      await writeCatalog(file, [{ ...own, packages: tweak({ Depends }) }, ...sources], 'https://index.example');
      const listed = { host: 'trap.example', reason: 'A trap', date: '2026-11-20', source: 'https://a.example/' };
      const opened = new SiteCatalog(file, lastBuild, undefined, isListed ? [listed] : []);
      const { needed, relations } = computePackageView(opened, 'org.t.tweak') ?? expect.unreachable('no tweak');
      opened.close();
      return [needed.map(({ slug }) => slug), relations[0]?.list[0]?.[0]?.target];
    };
    expect(await neededFor('org.a.first | org.a.safe', false)).toEqual([['trap'], 'org.a.first']);
    expect(await neededFor('org.a.first | org.a.safe', true)).toEqual([['safe'], 'org.a.first']);
    expect(await neededFor('org.a.first', true)).toEqual([['trap'], 'org.a.first']);
    // Both provide it.
    expect(await neededFor('org.a.any', false)).toEqual([['trap'], 'org.a.first']);
    expect(await neededFor('org.a.any', true)).toEqual([['safe'], 'org.a.safe']);
  });

  it('calls a repository unsafe that redirects to one that the safety list names', async () => {
    const moved = (slug: string, reached: string): Source => ({
      ...own,
      entry: { slug, uri: `https://${slug}.example/`, ranking: 3 },
      packages: stanza({ Package: 'org.t.moved' }),
      findings: [
        {
          code: 'redirected',
          count: 1,
          example: sayRedirect(new URL(`https://${slug}.example/Release`), new URL(reached)),
        },
      ],
    });
    const file = path.join(folder, 'moved.sqlite');
    const sources = [moved('one', 'https://trap.example/repo/Release'), moved('two', 'https://fine.example/Release')];
    await writeCatalog(file, sources, 'https://index.example');
    const listed = {
      host: 'trap.example',
      path: '/repo',
      reason: 'A trap',
      date: '2026-11-20',
      source: 'https://a.example/',
    };
    const opened = new SiteCatalog(file, undefined, undefined, [listed]);
    expect(opened.repository('one')?.doubt).toEqual({
      kind: 'unsafe',
      reason: 'It redirects to trap.example/repo. A trap',
      listed: 'trap.example/repo',
    });
    expect(opened.repository('two')?.doubt).toBeUndefined();
    expect(computePackageView(opened, 'org.t.moved')?.repository.slug).toBe('two');
    opened.close();
  });

  it('needs something from one relation on, and nothing where it only tells of others', async () => {
    const viewOf = (fields: Readonly<Record<string, string>>) => viewIn({ ...own, packages: tweak(fields) });
    expect((await viewOf({ Depends: 'org.t.old' })).isNeedy).toBe(true);
    expect((await viewOf({ Conflicts: 'org.t.old, org.t.lib' })).isNeedy).toBe(false);
  });

  it('C11: says how many relations it leaves out, of more than a person reads', async () => {
    const many = Array.from({ length: 203 }, (_, index) => `org.t.p${index}`).join(', ');
    const { relations } = await viewIn({ ...own, packages: tweak({ Depends: `${many}, ,`, Suggests: 'org.t.p1' }) });
    expect(relations.map(({ title, list, more }) => [title, list.length, more])).toEqual([
      ['Depends on', 200, 3],
      ['Suggests', 1, 0],
    ]);
  });

  it('takes firmware for no package', () => {
    const { relations, demands } = view('org.t.tweak');
    expect(relations.flatMap(({ list }) => list.flat()).map(({ name }) => name)).not.toContain('firmware');
    expect(demands.flatMap(({ written }) => written)).toEqual(['firmware (>= 14.0)']);
  });

  it('keeps what the device may meet among the alternatives, linked to nothing, and then needs no other repository', async () => {
    const depends = 'org.t.lib | firmware (>= 11.0), gsc.ipad | firmware (<< 14.0), org.t.old';
    const provider = stanza({ Package: 'org.t.posing', Provides: 'firmware' });
    const libraries = copies.find(({ entry }) => entry.slug === 'libraries') as Source;
    const { relations, demands, needed } = await viewIn(
      { ...own, packages: tweak({ Depends: depends }) + provider },
      libraries,
    );
    expect(relations).toEqual([
      {
        title: 'Depends on',
        of: [],
        list: [
          [
            { name: 'org.t.lib', restriction: '', target: 'org.t.lib' },
            { name: 'firmware', restriction: '(>= 11.0)' },
          ],
          [{ name: 'org.t.old', restriction: '', target: 'org.t.old' }],
        ],
        more: 0,
      },
    ]);
    expect(demands).toEqual([{ of: [], written: ['gsc.ipad or firmware (<< 14.0)'] }]);
    expect(needed.flatMap(({ packages }) => packages.map(({ id }) => id))).toEqual(['org.t.old']);
  });

  it('C4: doubts what its repository no longer confirms or has not changed for years', () => {
    expect(view('org.t.lib').doubt).toEqual({ kind: 'failing', since: '2026-11-02T10:00:00.000Z' });
    const hours = 47;
    const at = new Date(Date.parse(lastBuild.builtAt) - hours * 3_600_000).toISOString();
    for (const outcome of ['stale', 'failed'] as const) {
      const lately = new SiteCatalog(path.join(folder, 'catalog.sqlite'), {
        ...lastBuild,
        repositories: [{ ...troubled, outcome, confirmedAt: at }],
      });
      expect(computePackageView(lately, 'org.t.lib')?.doubt, outcome).toEqual({ kind: 'lately', since: at });
      lately.close();
    }
    expect(view('org.t.base').doubt).toEqual({ kind: 'old', since: '2018-11-01T10:00:00.000Z' });
    expect(view('org.t.tweak').doubt).toBeUndefined();
  });

  it('does not say that something was new on the day its repository was first read', () => {
    const { summary, latest } = view('org.t.tweak');
    expect(summary.isAddedKnown).toBe(false);
    expect(latest.map(({ isNews }) => isNews)).toEqual([false, false, false, false]);
  });

  it('offers no manager what none can install, and no row of devices for what is for none', () => {
    const managers = (id: string) => view(id).links.map(({ manager }) => manager);
    expect(managers('org.t.tweak')).toEqual(['Sileo', 'Zebra', 'Cydia']);
    expect(managers('org.t.lib')).toEqual(['Sileo', 'Zebra']);
    expect(managers('org.t.near')).toEqual(['Sileo', 'Zebra', 'Cydia']);
    expect(managers('linux-arm')).toEqual([]);
    expect(managers('linux-all')).toEqual([]);
    expect(view('linux-all').stated).toEqual([]);
  });

  it('leads to those of the people it names together who have a page, where they have none together', () => {
    expect(view('linux-both').authorKey).toBeUndefined();
    expect(view('linux-both').people).toEqual([{ key: 'ada', name: 'Ada' }]);
    expect(view('linux-arm').people).toEqual([]);
  });

  it('takes what a template wrote for no description, in lists too', () => {
    expect(view('org.t.near').description).toBeNull();
    expect(catalog.packages.get('org.t.near')?.summary).toBe('');
  });
});

describe('what its author made besides', () => {
  it('is what follows a package in the order of identifiers, whatever characters they are of', async () => {
    const file = path.join(folder, 'neighbours.sqlite');
    // As bytes the last two have this order, as UTF-16 the other.
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '\uffe0', '\u{10000}'];
    const made = ids.map((id) => stanza({ Package: id, Author: 'Ann Author' })).join('');
    await writeCatalog(file, [{ ...own, packages: made }], 'https://index.example');
    const neighbours = new SiteCatalog(file);
    const similar = (id: string) => computePackageView(neighbours, id)?.similar.map((card) => card.id);
    try {
      const after = (at: number) => Array.from({ length: 6 }, (_, step) => ids[(at + step + 1) % ids.length]);
      expect(ids.map(similar)).toEqual(ids.map((_, at) => after(at)));
    } finally {
      neighbours.close();
    }
  });
});
