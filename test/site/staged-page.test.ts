import path from 'node:path';
import { expect, it } from 'vitest';
import { longestSegment } from '../../src/contract/public-addresses.ts';
import { page } from '../../src/site/addresses.ts';
import { stagedPage } from '../../src/site/staged-page.ts';

// What comes near the place of another, and what is as long as a name may be.
const identifiers = [
  ...['foo', 'foo~', 'foo.html', 'foo.index.html', 'index.html', '~', 'Foo', 'feed.atom', 'foo.json'],
  ...['a'.repeat(249), 'a'.repeat(250), 'a'.repeat(251), 'é'.repeat(83), 'é'.repeat(84), `${'b'.repeat(246)}.json`],
];
const published = identifiers.flatMap((id) =>
  ['index.html', 'feed.atom', 'preview.png'].map((name) => `${page.package(id).slice(1)}${name}`),
);

it('keeps each page in a place of its own, whose names are none too long for a disk, and which is no folder of another', () => {
  const staged = [...published, 'index.html', '404.html'].map(stagedPage);
  expect(new Set(staged).size).toBe(staged.length);
  const folders = new Set(
    staged.flatMap((file) => file.split('/').map((_, index, parts) => parts.slice(0, index).join('/'))),
  );
  expect(staged.filter((file) => folders.has(file))).toEqual([]);
  for (const file of staged) {
    expect(path.posix.normalize(file)).toBe(file);
    for (const segment of file.split('/')) expect(segment.length).toBeLessThanOrEqual(longestSegment);
  }
});

it('needs no folder for the page and the feed of a package, beside which there is nothing else', () => {
  for (const name of ['index.html', 'feed.atom']) {
    expect(path.posix.dirname(stagedPage(`package/org.coolstar.sileo/${name}`)), name).toBe('package');
  }
});
