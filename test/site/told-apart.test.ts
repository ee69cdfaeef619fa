import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameMarkup } from '../../src/results/row.ts';
import { computeAuthorPages } from '../../src/site/author-view.ts';
import { composeBeginnings } from '../../src/site/beginnings.ts';
import { feedOfAll, feedOfPackage, feedOfRepository } from '../../src/site/feed-subjects.ts';
import { newsByDay } from '../../src/site/overview.ts';
import { packageCard } from '../../src/site/package-card.ts';
import { packagesIn } from '../../src/site/repository-view.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { tellNames } from '../../src/site/told-apart.ts';
import { lastBuild, type Source, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

const sourceOf = (slug: string, name: string): Source => {
  const id = `org.${slug}.tweak`;
  const tweak = (version: string) => stanza({ Package: id, Name: 'Twist', Author: 'Ada', Version: version });
  return {
    entry: { slug, uri: `https://${slug}.example/`, ranking: 3 },
    release: `Origin: ${name}\n`,
    at: '2026-11-10T10:00:00.000Z',
    before: [[id, '1.0']],
    packages: tweak('1.0') + tweak('1.1'),
  };
};

const { folder, remove } = temporaryFolder();
let catalog: SiteCatalog;
beforeAll(async () => {
  const file = path.join(folder, 'catalog.sqlite');
  const sources = [sourceOf('first', 'Twin'), sourceOf('second', 'twin '), sourceOf('third', 'Alone')];
  await writeCatalog(file, sources, 'https://index.example');
  catalog = new SiteCatalog(file, lastBuild);
});
afterAll(() => {
  catalog.close();
  remove();
});

describe('repositories of one name', () => {
  const expected = ['Alone', 'Twin (first)', 'twin (second)'];

  it('are told apart in rows of packages, suggestions among them, and on the page of an author', () => {
    const summaries = [...catalog.packages.values()];
    expect(summaries.map((one) => packageCard(one).place).sort()).toEqual(expected);
    const updated = newsByDay(catalog).flatMap((day) => day.updated.cards);
    expect(updated.map(({ place }) => place).sort()).toEqual(expected);
    const begun = composeBeginnings(summaries, false).get('tw') ?? [];
    expect(begun.map(({ place }) => place).sort()).toEqual(expected);
    const [ada] = computeAuthorPages(catalog, catalog.authors.get('ada') as never);
    expect(ada?.head.repositories.map(({ name }) => name).sort()).toEqual(expected);
  });

  it('are told apart in feeds, whose entries are read alone', () => {
    const source = {
      catalog,
      base: 'https://index.example',
      service: { name: 'Index' },
      inRepository: packagesIn(catalog),
      byKind: new Map(),
    };
    const placesOf = (feed: { readonly entries: readonly { readonly place: string }[] }) =>
      feed.entries.map(({ place }) => place).sort();
    expect(placesOf(feedOfAll(source))).toEqual(expected);
    for (const repository of catalog.repositories)
      expect(placesOf(feedOfRepository(source, repository))).toEqual([repository.toldName]);
    for (const summary of catalog.packages.values())
      expect(placesOf(feedOfPackage(source, summary))).toEqual([summary.repository.toldName]);
  });

  it('keep their slugs in sight, however long the name is', () => {
    const name = 'A long name '.repeat(30);
    const slugs = ['first', 'z'.repeat(64)];
    for (const [slug, told] of tellNames(slugs.map((one) => ({ slug: one, name }))))
      expect(nameMarkup(told)).toMatch(new RegExp(`^A long name .*… \\(${slug}\\)$`));
    expect(tellNames([{ slug: 'first', name }]).get('first')).toBe(name);
  });
});
