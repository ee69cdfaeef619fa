import { expect, it } from 'vitest';
import { doctorViews } from '../../src/site/doctor-view.ts';
import type { SiteCatalog } from '../../src/site/site-catalog.ts';

const repository = (slug: string, codes: readonly string[]) => ({
  slug,
  name: slug,
  record: { uri: `https://${slug}.example/`, suite: './', origin_packages_path: '' },
  outcome: undefined,
  findings: codes.map((code) => ({ code, count: 1, example: 'x' })),
  signing: 'verified',
  signers: [],
});

it('lists repositories by how much there is to say of them, and then by their slugs', () => {
  const repositories = [
    repository('a-clean', []),
    repository('b-one', ['stanza-duplicate']),
    repository('c-clean', []),
    repository('d-two', ['stanza-duplicate', 'version-malformed']),
    repository('e-one', ['version-malformed']),
  ];
  const catalog = { lastBuild: undefined, repositories, repository: () => undefined } as unknown as SiteCatalog;
  const views = doctorViews(catalog, new Map());
  const order = views.map(({ slug, diagnosis }) => [slug, diagnosis.findings.length]);
  expect(order.map(([, found]) => found)).toEqual([2, 1, 1, 0, 0]);
  expect(order.map(([slug]) => slug)).toEqual(['d-two', 'b-one', 'e-one', 'a-clean', 'c-clean']);
});
