import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ShownBuild } from '../../src/catalog/last-build.ts';
import type { SafetyEntry } from '../../src/contract/safety.ts';
import { feedOfAuthor, feedOfPackage } from '../../src/site/feed-subjects.ts';
import { composeAtom } from '../../src/site/feeds.ts';
import { feedInputs, packageInputs } from '../../src/site/package-inputs.ts';
import { computePackageView } from '../../src/site/package-view.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import {
  countDownloads,
  fewSources,
  lastBuild,
  type Source,
  stanza,
  temporaryFolder,
  writeCatalog,
} from './fixture.ts';

const { folder, remove } = temporaryFolder();
const base = 'https://index.example';
const file = path.join(folder, 'catalog.sqlite');
const altered = path.join(folder, 'altered.sqlite');

// Packages that tell of each other in all ways there are, beside others that have nothing to do with them.
const near: readonly Source[] = [
  {
    entry: { slug: 'near', uri: 'https://near.example/', ranking: 2 },
    release: 'Origin: Near\n',
    at: '2026-11-10T10:00:00.000Z',
    before: [],
    packages: [
      stanza({
        Package: 'org.near.tweak',
        Name: 'Tweak',
        Author: 'Eva Example',
        Depends: 'org.near.lib, org.far.lib | mail-server, firmware (>= 14.0)',
        Recommends: 'org.near.nice',
        Description: 'Does a thing',
      }),
      stanza({
        Package: 'org.near.lib',
        Name: 'Library',
        Author: 'Eva Example and Ada Example',
        Depends: 'org.near.deep',
      }),
      stanza({ Package: 'org.near.deep', Name: 'Deep' }),
      stanza({ Package: 'org.near.plain', Name: 'Plain', Depends: 'org.near.lib' }),
      stanza({ Package: 'org.near.halves', Name: 'Halves', Architecture: 'iphoneos-arm' }),
      stanza({ Package: 'org.near.halves', Name: 'Halves', Depends: 'org.far.half' }),
      stanza({ Package: 'org.near.everywhere', Name: 'Everywhere', Architecture: 'all', Author: 'Eva Example' }),
      stanza({ Package: 'org.near.nice', Name: 'Nice' }),
      stanza({ Package: 'org.near.all', Name: 'For all', Architecture: 'all', Recommends: 'org.near.nice' }),
    ].join(''),
  },
  {
    entry: { slug: 'linux', uri: 'https://linux.example/', ranking: 5 },
    release: 'Origin: Linux\n',
    at: '2026-11-12T10:00:00.000Z',
    packages: stanza({ Package: 'linux-tool', Architecture: 'amd64', Author: 'Cid and Dora' }),
  },
  {
    entry: { slug: 'far', uri: 'https://far.example/', ranking: 3 },
    release: 'Origin: Far\n',
    at: '2026-11-11T10:00:00.000Z',
    packages:
      stanza({ Package: 'org.far.lib', Name: 'Far library' }) +
      stanza({ Package: 'org.far.deep', Name: 'Far and deep' }) +
      stanza({ Package: 'org.far.half', Name: 'Half' }) +
      stanza({ Package: 'org.far.mail', Name: 'Mail', Provides: 'mail-server' }) +
      stanza({ Package: 'org.near.tweak', Name: 'Tweak', Version: '0.9', Author: 'Eva Example' }),
  },
];

const unsafe = {
  host: 'far.example',
  reason: 'Had a backdoor once.',
  date: '2026-11-20',
  source: 'https://news.example/',
};

interface Seen {
  readonly shown: string;
  readonly inputs: string | undefined;
}

/** All that pages and feeds of packages and authors show of a catalog, and what they say it is computed from. */
const see = (
  catalogPath: string,
  build: ShownBuild = lastBuild,
  safety: readonly SafetyEntry[] = [],
  rendersFew = false,
): Map<string, Seen> => {
  const catalog = new SiteCatalog(catalogPath, build, undefined, safety, rendersFew);
  const source = { catalog, base, service: { name: 'Index' }, inRepository: new Map(), byKind: new Map() };
  try {
    return new Map<string, Seen>([
      ...[...catalog.packages.values()].flatMap((summary): [string, Seen][] => [
        [
          `page ${summary.id}`,
          {
            shown: JSON.stringify(computePackageView(catalog, summary.id)),
            inputs: packageInputs(catalog, summary.id),
          },
        ],
        [
          `feed ${summary.id}`,
          { shown: composeAtom(feedOfPackage(source, summary)), inputs: feedInputs(catalog, [summary]) },
        ],
      ]),
      ...[...catalog.authors.values()].map((author): [string, Seen] => [
        `author ${author.key}`,
        {
          shown: composeAtom(feedOfAuthor(source, author)),
          inputs: feedInputs(catalog, author.packages),
        },
      ]),
    ]);
  } finally {
    catalog.close();
  }
};

let before: Map<string, Seen>;
beforeAll(async () => {
  await writeCatalog(file, [...fewSources, ...near], base);
  before = see(file);
});
afterAll(remove);

interface Difference {
  /** What shows something else. */
  readonly shown: readonly string[];
  /** What says that it is computed from something else. */
  readonly told: readonly string[];
}

const compare = (after: Map<string, Seen>): Difference => {
  const both = [...before].filter(([name]) => after.has(name));
  const differing = (what: keyof Seen) =>
    both.filter(([name, one]) => one[what] !== after.get(name)?.[what]).map(([name]) => name);
  return { shown: differing('shown'), told: differing('inputs') };
};

const alterRows = (statement: string): Map<string, Seen> => {
  copyFileSync(file, altered);
  const database = new DatabaseSync(altered);
  expect(database.prepare(statement).run().changes).toBeGreaterThan(0);
  database.close();
  return see(altered);
};

const alterSources = async (alter: (sources: readonly Source[]) => readonly Source[]) => {
  await writeCatalog(altered, alter([...fewSources, ...near]), base);
  return see(altered);
};

const replaced = (slug: string, change: (source: Source) => Source) => (sources: readonly Source[]) =>
  sources.map((source) => (source.entry.slug === slug ? change(source) : source));
const rewritten = (slug: string, from: string | RegExp, to: string) =>
  replaced(slug, (source) => {
    const packages = source.packages.replace(from, to);
    expect(packages).not.toBe(source.packages);
    return { ...source, packages };
  });

const changes: Readonly<Record<string, () => Promise<Map<string, Seen>> | Map<string, Seen>>> = {
  'a new version': () => alterSources(rewritten('near', 'Version: 1.0', 'Version: 1.1')),
  'another description': () => alterSources(rewritten('near', 'Does a thing', 'Does another')),
  'another name of what is needed': () => alterSources(rewritten('near', 'Name: Library', 'Name: Other library')),
  'another name of what needs': () => alterSources(rewritten('near', 'Name: Tweak', 'Name: Other tweak')),
  'what is needed is gone': () =>
    alterSources(rewritten('far', /Package: org\.far\.lib\n/, 'Package: org.far.other\n')),
  'what is needed is for other devices': () =>
    alterSources(rewritten('far', 'Architecture: iphoneos-arm64', 'Architecture: iphoneos-arm')),
  'what one of its builds needs is gone': () =>
    alterSources(rewritten('far', 'Package: org.far.half\n', 'Package: org.far.whole\n')),
  'what provides it is gone': () => alterSources(rewritten('far', 'Provides: mail-server\n', '')),
  'its own repository provides what another has': () =>
    alterSources(rewritten('near', 'Name: For all', 'Name: For all\nProvides: org.far.lib')),
  'what is needed by what is needed needs another repository': () =>
    alterSources(rewritten('near', 'Name: Deep', 'Name: Deep\nDepends: org.far.deep')),
  'what is recommended is gone': () => alterSources(rewritten('near', 'Package: org.near.nice', 'Package: org.nice')),
  'an older copy that is newer': () => alterSources(rewritten('far', 'Version: 0.9', 'Version: 2.0')),
  'a copy less': () => alterSources(rewritten('far', 'Package: org.near.tweak', 'Package: org.far.tweak')),
  'another spelling of an author': () =>
    alterSources(rewritten('near', /Author: Eva Example\n/g, 'Author: EVA Example\n')),
  'one of two authors who has a page now': () =>
    alterSources(rewritten('near', 'Name: Nice', 'Name: Nice\nAuthor: Dora')),
  'a neighbour of an author': () =>
    alterSources(
      replaced('far', (source) => ({
        ...source,
        packages: `${source.packages}${stanza({ Package: 'org.far.new', Author: 'Eva Example' })}`,
      })),
    ),
  'another name of a repository': () =>
    alterSources(replaced('far', (source) => ({ ...source, release: 'Origin: Farther\n' }))),
  'a repository called alike': () =>
    alterSources(replaced('far', (source) => ({ ...source, release: 'Origin: Near\n' }))),
  'another address': () =>
    alterSources(
      replaced('near', (source) => ({ ...source, entry: { ...source.entry, uri: 'https://nearer.example/' } })),
    ),
  'another ranking': () =>
    alterSources(replaced('far', (source) => ({ ...source, entry: { ...source.entry, ranking: 1 } }))),
  'a bootstrap repository': () =>
    alterSources(replaced('far', (source) => ({ ...source, entry: { ...source.entry, bootstrap: true } }))),
  'a repository for other systems': () =>
    alterSources(rewritten('near', /Architecture: iphoneos-arm64/g, 'Architecture: arm64')),
  'a signature': () =>
    alterRows(`UPDATE repository SET signing = '{"state":"verified","signers":[]}' WHERE slug = 'near'`),
  'another suite': () =>
    alterRows(`UPDATE repository SET record = json_replace(record, '$.suite', 'stable') WHERE slug = 'near'`),
  'another ranking of the one repository': () =>
    alterRows(`UPDATE repository SET record = json_replace(record, '$.quality', 4) WHERE slug = 'linux'`),
  'a repository that is old': () =>
    alterRows(`UPDATE repository SET changed_at = '2001-01-01T00:00:00.000Z' WHERE slug = 'near'`),
  'another day of entering': () =>
    alterRows(`UPDATE repository SET added_at = '2026-11-19T00:00:00.000Z' WHERE slug = 'far'`),
  'other bytes': () =>
    alterRows(`UPDATE record SET changed_at = '2026-11-19T00:00:00.000Z' WHERE package = 'org.near.lib'`),
  'another day of appearing': () =>
    alterRows(`UPDATE record SET first_seen = '2026-11-19T00:00:00.000Z' WHERE package = 'org.near.lib'`),
  'news that is none': () => alterRows(`UPDATE record SET news = 0 WHERE package = 'org.near.lib'`),
  'other details': () =>
    alterRows(`UPDATE record SET details = '{"homepage":"https://home.example/"}' WHERE package = 'org.near.lib'`),
  'another latest one': () =>
    alterRows(`UPDATE record SET latest = 0 WHERE package = 'com.alpha.snowboard' AND version = '1.3'`),
  'nothing that is for devices': () =>
    alterRows(`UPDATE record SET architecture = 'arm64' WHERE architecture LIKE 'iphoneos-arm%'`),
  downloads: () => {
    copyFileSync(file, altered);
    countDownloads(altered, { 'org.near.lib': 7 });
    return see(altered);
  },
  'a repository that fails': () =>
    see(file, {
      ...lastBuild,
      repositories: [
        ...lastBuild.repositories,
        { slug: 'near', uri: '', outcome: 'stale', code: null, reason: null, confirmedAt: '2026-11-10T10:00:00.000Z' },
      ],
    }),
  'a repository that the safety list names': () => see(file, lastBuild, [unsafe]),
  'another reason for which it does': () => {
    const given = see(file, lastBuild, [unsafe]);
    const other = see(file, lastBuild, [{ ...unsafe, reason: 'It was taken over.' }]);
    const page = (seen: Map<string, Seen>) => seen.get('page org.far.lib');
    expect(page(other)?.inputs).not.toBe(page(given)?.inputs);
    return other;
  },
  'years that went by': () => see(file, { ...lastBuild, builtAt: '2036-11-20T10:00:00.000Z' }),
};

describe('what the page of a package is computed from', () => {
  it.each(Object.entries(changes))(
    'C12: is told as something else where it shows something else: %s',
    async (_, change) => {
      const { shown, told } = compare(await change());
      expect(shown).not.toEqual([]);
      expect(shown.filter((name) => !told.includes(name))).toEqual([]);
    },
  );

  it('C12: is told as something else where a day has come on which something was seen, under a clock that was ahead', () => {
    const later = `UPDATE record SET news = 1, first_seen = '2026-12-24T00:00:00.000Z' WHERE package = 'org.near.tweak'`;
    const early = alterRows(later);
    const after = see(altered, { ...lastBuild, builtAt: '2026-12-25T00:00:00.000Z' });
    for (const feed of ['feed org.near.tweak', 'author eva example']) {
      expect(early.get(feed)?.shown, feed).not.toContain('2026-12-24');
      expect(after.get(feed)?.shown, feed).toContain('2026-12-24');
      expect(after.get(feed)?.inputs, feed).not.toBe(early.get(feed)?.inputs);
    }
  });

  it('C12: stays the same of what the safety list does not name, and all of it where it names none of these', () => {
    const named = compare(see(file, lastBuild, [unsafe]));
    expect(named.told.filter((name) => /linux|many|alpha/.test(name))).toEqual([]);
    expect(compare(see(file, lastBuild, [{ ...unsafe, path: '/elsewhere' }]))).toEqual({ shown: [], told: [] });
  });

  it('C12: stays the same where packages that are not told of change, and their repository with them', async () => {
    const { told } = compare(await alterSources(rewritten('many', 'Version: 1.0', 'Version: 1.1')));
    // The first of three of one repository, which has no author.
    expect(told).toEqual(['page com.many.p0', 'feed com.many.p0']);
    // Its page leads there, and says nothing of it but the name that it needs.
    const needed = compare(await alterSources(rewritten('far', 'Name: Mail', 'Name: Mail\nDescription: Delivers')));
    expect(needed.told).toEqual(['page org.far.mail', 'feed org.far.mail']);
    expect(compare(see(file))).toEqual({ shown: [], told: [] });
  });

  it('are the same where few pages are rendered, and what only those need is read when it is asked for', () => {
    // Dated after one of the builds, and before the other.
    for (const builtAt of ['2000-01-01T00:00:00.000Z', lastBuild.builtAt]) {
      const build = { ...lastBuild, builtAt };
      expect(see(file, build, [], true)).toEqual(see(file, build));
    }
  });

  it('C12: is told as something else where its picture shows something else', () => {
    const catalog = new SiteCatalog(file, lastBuild);
    const told = (picture?: string) => packageInputs(catalog, 'org.near.tweak', picture);
    expect(new Set([told(), told('Tweak'), told('Other tweak')]).size).toBe(3);
    catalog.close();
  });

  it('is not told where native depictions are shown, which are kept beside the catalog', () => {
    const catalog = new SiteCatalog(file, lastBuild, folder);
    expect([...catalog.packages.keys()].filter((id) => packageInputs(catalog, id) !== undefined)).toEqual([]);
    catalog.close();
  });
});
