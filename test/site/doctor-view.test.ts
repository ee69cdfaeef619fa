import { expect, it } from 'vitest';
import { doctorViews } from '../../src/site/doctor-view.ts';
import type { SiteCatalog } from '../../src/site/site-catalog.ts';

const repository = (slug: string, codes: readonly string[]) => ({
  slug,
  name: slug,
  record: { uri: `https://${slug}.example/`, suite: './', origin_packages_path: '' },
  outcome: undefined as SiteCatalog['repositories'][number]['outcome'],
  findings: codes.map((code) => ({ code, count: 1, example: 'x' })),
  signing: 'verified',
  signers: [],
});

const listed = (repositories: readonly ReturnType<typeof repository>[]) =>
  doctorViews({ lastBuild: undefined, repositories, repository: () => undefined } as unknown as SiteCatalog, new Map());

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
