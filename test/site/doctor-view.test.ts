import { expect, it } from 'vitest';
import { doctorViews } from '../../src/site/doctor-view.ts';
import type { SiteCatalog } from '../../src/site/site-catalog.ts';

const repository = (slug: string, codes: readonly string[]) => ({
  slug,
  name: slug,
  record: { uri: `https://${slug}.example/`, suite: './', origin_packages_path: '' },
  outcome: undefined as SiteCatalog['repositories'][number]['outcome'],
  doubt: undefined as SiteCatalog['repositories'][number]['doubt'],
  findings: codes.map((code) => ({ code, count: 1, example: 'x' })),
  signing: 'verified',
  signers: [],
});

const listed = (
  repositories: readonly ReturnType<typeof repository>[],
  packages: Parameters<typeof doctorViews>[1] = new Map(),
) =>
  doctorViews({ lastBuild: undefined, repositories, repository: () => undefined } as unknown as SiteCatalog, packages);

it('lists repositories by how much there is to say of them, and then by their slugs', () => {
  const views = listed([
    repository('a-clean', []),
    repository('b-one', ['stanza-duplicate']),
    repository('c-clean', []),
    repository('d-two', ['stanza-duplicate', 'version-malformed']),
    repository('e-one', ['version-malformed']),
  ]);
  const order = views.map(({ slug, diagnosis }) => [slug, diagnosis.findings.length]);
  expect(order.map(([, found]) => found)).toEqual([2, 1, 1, 0, 0]);
  expect(order.map(([slug]) => slug)).toEqual(['d-two', 'b-one', 'e-one', 'a-clean', 'c-clean']);
});

it('marks what is known from before where the last visit failed, for a reason without words of its own too', () => {
  const failed = (code: string) => {
    const one = {
      ...repository('a', ['stanza-duplicate']),
      outcome: { slug: 'a', uri: '', outcome: 'stale', code, reason: 'Why.', confirmedAt: null } as const,
    };
    return listed([one])[0]?.diagnosis.findings.map(({ isEarlier }) => isEarlier);
  };
  expect(failed('dns')).toEqual([false, true]);
  expect(failed('of-another-version')).toEqual([false, true]);
});

it('has no commands of a flat repository for a suite that was never read, and examines that suite again', () => {
  const outcome = { slug: 'a', uri: 'https://a.example/', outcome: 'failed', code: 'release-missing' } as const;
  const viewOf = (index: { suite: string; component?: string; binary?: string }) => {
    const unread = { ...outcome, reason: 'Why.', confirmedAt: null, index };
    const catalog = {
      lastBuild: { builtAt: '', repositories: [unread] },
      repositories: [],
      repository: () => undefined,
      unsafeAt: () => undefined,
    };
    const [view] = doctorViews(catalog as unknown as SiteCatalog, new Map());
    return [view?.diagnosis.findings.flatMap(({ mending }) => mending.commands), view?.command];
  };
  expect(viewOf({ suite: './' })).toEqual([
    ['apt-ftparchive release . > ../Release.new && mv ../Release.new Release'],
    'npm run doctor -- https://a.example/',
  ]);
  expect(viewOf({ suite: 'stable', component: 'main', binary: 'iphoneos-arm64' })).toEqual([
    [],
    'npm run doctor -- https://a.example/ --suite stable --component main --binary iphoneos-arm64',
  ]);
});

it('tells the owner of one that is left alone how to mend the failure before', () => {
  const resting = {
    ...repository('a', []),
    outcome: {
      slug: 'a',
      uri: '',
      outcome: 'stale',
      code: 'backing-off',
      earlier: 'server-error',
      reason: 'Not asked, because it failed before: Why.',
      confirmedAt: null,
    } as const,
  };
  const [view] = listed([resting]);
  expect([view?.toMend, view?.diagnosis.findings.map(({ for_owner }) => for_owner)]).toEqual([
    1,
    ['Check the log of the web server. The index asks again by itself.'],
  ]);
});

it('lists those first that keep more packages from people, whatever else there is to say of others', () => {
  const views = listed([
    repository('a-mild', ['stanza-duplicate', 'version-malformed', 'version-malformed', 'version-malformed']),
    repository('b-one', ['index-html', 'stanza-duplicate', 'version-malformed']),
    repository('c-two', ['index-html', 'index-empty']),
  ]);
  expect(views.map(({ slug, toMend }) => [slug, toMend])).toEqual([
    ['c-two', 2],
    ['b-one', 1],
    ['a-mild', 0],
  ]);
});

it('calls nothing broken where what came is held back, and lists that with what is to mend', () => {
  const reason = 'The index lost 9 of 10 packages.';
  const held = {
    ...repository('a-held', []),
    outcome: {
      slug: 'a-held',
      uri: '',
      outcome: 'stale',
      code: 'index-shrunken',
      reason,
      confirmedAt: null,
      heldBack: [{ code: 'index-shrunken', reason }],
    } as const,
  };
  const views = listed([repository('b-mild', ['stanza-duplicate']), held, repository('c-broken', ['index-html'])]);
  expect(views.map(({ slug }) => slug)).toEqual(['c-broken', 'a-held', 'b-mild']);
  const { standing, findings } = views[1]?.diagnosis ?? {};
  expect([standing, findings?.map(({ weight, for_operator }) => [weight, for_operator])]).toEqual([
    'held',
    [['weak', reason]],
  ]);
});

it('lists those first that the safety list names, and does not say that they can be used', () => {
  const doubt = { kind: 'unsafe', reason: 'It was taken over.', listed: 'b-unsafe.example' } as const;
  const packages = new Map([['b-unsafe', { length: 2 }]]);
  const views = listed([repository('a-broken', ['index-html']), { ...repository('b-unsafe', []), doubt }], packages);
  expect(views.map(({ slug, unsafe }) => [slug, unsafe])).toEqual([
    ['b-unsafe', doubt],
    ['a-broken', undefined],
  ]);
  expect(views[0]?.diagnosis.verdict).toBe('This index can read the repository: 2 packages.');
  const unreadable = { slug: 'd', uri: '', outcome: 'stale', code: 'dns', reason: 'Why.', confirmedAt: null } as const;
  const [failed] = listed([{ ...repository('d', []), doubt, outcome: unreadable }], new Map([['d', { length: 2 }]]));
  expect(failed?.diagnosis.verdict).toBe('The repository cannot be used.');
  const [old] = listed([{ ...repository('c-old', []), doubt: { kind: 'old', since: '' } }]);
  expect([old?.unsafe, old?.diagnosis.verdict]).toEqual([undefined, 'The repository can be used: 0 packages.']);
});

it('examines the index again that was read, and names the document about it', () => {
  const viewOf = (suite: string, path: string) => {
    const { record, ...one } = repository('a', []);
    const [view] = listed([{ ...one, record: { ...record, suite, origin_packages_path: path } }]);
    return [view?.command, view?.document];
  };
  const document = '/v2/jailbreak/repository/a/findings.json';
  expect(viewOf('./', '/Packages.bz2')).toEqual(['npm run doctor -- https://a.example/', document]);
  // Under its hash, too, as where Release has Acquire-By-Hash.
  for (const file of ['Packages.xz', 'by-hash/SHA256/00ff']) {
    expect(viewOf('stable', `/dists/stable/main/extra/binary-iphoneos-arm64/${file}`), file).toEqual([
      'npm run doctor -- https://a.example/ --suite stable --component main/extra --binary iphoneos-arm64',
      document,
    ]);
  }
});

it('names those findings first, of as much weight, that more of its packages have', () => {
  const counts = new Map([
    ['icon-malformed', 2],
    ['header-malformed', 7],
    ['native-depiction-malformed', 3],
  ]);
  const findings = [...counts].map(([code, count]) => ({ code, count, example: 'x' }));
  const [view] = listed([{ ...repository('a', []), findings }]);
  expect(view?.diagnosis.findings.map(({ count }) => count)).toEqual([7, 3, 2]);
});

it('gives visitors no advice for the operator', () => {
  const [view] = listed([repository('a', ['redirected'])]);
  expect(view?.diagnosis.findings.map(({ for_operator }) => for_operator)).toEqual(['Redirects were followed: x.']);
});

it('says since when it cannot be read, and keeps the weight of what is known from before where something is held back', () => {
  const since = '2026-05-01T00:00:00.000Z';
  const failed = (code: string, heldBack: readonly { code: string; reason: string }[] = []) => {
    const outcome = { slug: 'a', uri: '', outcome: 'stale', code, reason: 'Why.', confirmedAt: null, since, heldBack };
    const [view] = listed([{ ...repository('a', ['index-html']), outcome: outcome as never }]);
    return view?.diagnosis.findings.map((finding) => [finding.since, finding.weight]);
  };
  expect(failed('dns')?.[0]).toEqual([since, 'broken']);
  expect(failed('of-another-version')?.[0]).toEqual([since, 'broken']);
  expect(failed('index-shrunken', [{ code: 'index-shrunken', reason: 'Why.' }])).toEqual([
    [since, 'weak'],
    [null, 'broken'],
  ]);
});

it('has one report about each, whether it was ever read or not', () => {
  const one = (slug: string) => ({ slug, uri: '', outcome: 'failed', code: 'dns', reason: 'Why.', confirmedAt: null });
  const read = { ...repository('a', []), outcome: one('a') as never };
  const catalog = {
    lastBuild: { builtAt: '', repositories: [one('a'), one('b')] },
    repositories: [read],
    repository: (slug: string) => (slug === 'a' ? read : undefined),
    unsafeAt: () => undefined,
  };
  const views = doctorViews(catalog as unknown as SiteCatalog, new Map());
  expect(views.map(({ slug, isRead }) => [slug, isRead])).toEqual([
    ['a', true],
    ['b', false],
  ]);
});
