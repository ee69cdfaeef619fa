import { Ledger } from '../../src/catalog/ledger.ts';
import { writeStale } from '../../src/catalog/stale-repositories.ts';
import { CatalogBuild } from '../../src/catalog/state-catalog.ts';
import { indexForSearch, updateCatalog } from '../../src/catalog/update.ts';
import { base, entryOf, memorySnapshots, packages, type SourceRepository } from './catalog.ts';
import { generatedRepositories } from './generated.ts';

const full = {
  Package: 'com.example.full',
  Version: '2.0',
  Name: 'Full Table',
  Section: 'Tweaks (Paid)',
  Author: 'Ann Author <ann@mail.example>',
  Maintainer: 'Max Maintainer <max@mail.example>',
  Description: 'All fields of a stanza\n In two lines, for iOS 14 to 16.',
  Tag: 'cydia::commercial, compatible_min::ios14.0, compatible_max::ios16.5, purpose::extension',
  SHA256: 'a'.repeat(64),
  Size: '4321',
  'Installed-Size': '77',
  Icon: 'https://icons.example/full.png',
  Header: 'https://icons.example/full-header.png',
  'Native-Depiction': 'https://depictions.example/full.json',
  Depiction: 'https://depictions.example/full.html',
  Homepage: 'https://home.example/',
  Depends: 'mobilesubstrate (>= 0.9) | ellekit, firmware (>= 13.0)',
  'Pre-Depends': 'firmware (<< 17.0)',
  Recommends: 'com.example.toolkit',
  Suggests: 'com.example.hint',
  Enhances: 'com.example.base',
  Conflicts: 'firmware (= 15.0), com.example.rival',
  Breaks: 'com.example.older (<< 1.0)',
  Replaces: 'com.example.older',
  Provides: 'com.example.interface (= 2.0), com.example.virtual',
  'Multi-Arch': 'allowed',
  Priority: 'important',
};
const copy = { Package: 'com.example.copy', Name: 'Copy Cat', SHA256: 'b'.repeat(64), Size: '500' };
const essential = {
  Package: 'com.example.core',
  Architecture: 'iphoneos-arm64',
  Essential: 'yes',
  Provides: 'com.example.virtual',
};
const changing = { Package: 'com.example.changing', SHA256: '1'.repeat(64) };
const updated = { Package: 'com.example.updated', Version: '1.0' };

const rich = (isLater: boolean): SourceRepository => ({
  slug: 'rich',
  ranking: 2,
  uri: 'http://rich.example/repo/',
  aliases: ['former', 'older'],
  release:
    'Origin: Rich\nLabel: Richer\nDescription: With everything\nVersion: 1.5\nDate: Fri, 01 May 2026 10:00:00 UTC\nPayment-Gateway: https://pay.example/\n',
  packages: packages(
    { ...full, Version: '1.9~beta1', Provides: 'com.example.gone' },
    full,
    essential,
    copy,
    { Package: 'com.example.broken', Icon: 'ftp://icons.example/a.png', SHA256: 'none', Size: 'many' },
    isLater ? { ...changing, SHA256: '2'.repeat(64) } : changing,
    updated,
    ...(isLater ? [{ ...updated, Version: '1.1' }, { Package: 'com.example.added' }] : []),
  ),
  crawled: {
    signing: { state: 'verified', signers: ['A'.repeat(40)], remembered: ['A'.repeat(40)] },
    hasInRelease: true,
    hasReleaseGpg: true,
    paymentEndpoint: 'https://pay.example/v1',
    findings: [{ code: 'release-in-future', count: 1, example: 'Fri, 01 May 2099 10:00:00 UTC' }],
  },
});

const unlike: SourceRepository = {
  slug: 'unlike',
  ranking: 4,
  changedAt: '2026-04-01T12:00:00.000Z',
  isStale: true,
  packages: packages({ ...copy, SHA256: 'c'.repeat(64) }, { ...full, SHA256: 'd'.repeat(64) }),
};

/**
 * Builds a catalog with content in every column into a state folder. Its repositories have all that a stanza may have;
 * one changed between two builds, and another has different bytes. The catalog is left as published.
 */
export const buildWholeCatalog = async (state: string): Promise<void> => {
  for (const isLater of [false, true]) {
    const repositories = [...generatedRepositories(), rich(isLater), unlike];
    const now = new Date(isLater ? '2026-05-09T00:00:00Z' : '2026-05-02T00:00:00Z');
    const catalog = new CatalogBuild(state);
    const store = memorySnapshots(repositories, state);
    const { ingested } = await updateCatalog(catalog, repositories.map(entryOf), store, { base, now });
    await indexForSearch(catalog, ingested, [{ package_id: full.Package, total: 1000, last_30_days: 10 }]);
    writeStale(catalog, new Set(repositories.filter(({ isStale }) => isStale).map(({ slug }) => slug)));
    // The content of documents does not come from the catalog.
    const entry = { digest: new Uint8Array(16).fill(7), date: now.toISOString(), size: 9, text: 'whole' };
    new Ledger(catalog).set('v2/index.json', entry);
    await catalog.publish();
  }
};
