import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Bundle, Pages } from '../../src/site/bundle.ts';
import { renderPages } from '../../src/site/render.ts';
import { temporaryFolder } from '../support/folder.ts';

/** A bundle of pages with this cache key, each of which `render` makes of its path. */
const bundleOf = (paths: readonly string[], cacheKey: string, render: (pathname: string) => string): Bundle => {
  const pages = {
    listPages: async () => paths.map((pathname) => ({ pathname, route: { type: 'page' }, cacheKey })),
    readKey: (key: string) => key,
    renderAlike: render,
  } as unknown as Pages;
  return { key: 'bundle', client: '', pages };
};

it('C12: records no page from the moment that it may be replaced until all are there', async () => {
  const folder = path.join(temporaryFolder(), 'pages');
  const render = (key: string, page: (pathname: string) => string) =>
    renderPages(bundleOf(['/a/', '/b/'], key, page), folder, { base: 'https://index.example' }, () => {});
  const read = () => ['a~', 'b~'].map((name) => readFileSync(path.join(folder, name), 'utf8'));
  await render('first', () => 'first.');
  // It ends between two pages.
  const ended = render('second', (pathname) => {
    if (pathname === '/b/') throw new Error('killed');
    return 'second';
  });
  await expect(ended).rejects.toThrow('killed');
  expect(read()).toEqual(['second', 'first.']);
  // What changed is as it was before, and the page that was replaced is as long.
  expect((await render('first', () => 'first.')).rendered).toBe(2);
  expect(read()).toEqual(['first.', 'first.']);
});

it('moves addresses of this host below the path of the public address, and those of others not', async () => {
  const folder = path.join(temporaryFolder(), 'pages');
  const written = (prefix: string) =>
    [
      `<a href="${prefix}/a/">`,
      `<img src="${prefix}/b.png" data-fallback="${prefix}/c.png">`,
      `<form action="${prefix}/search/">`,
      `<meta content="0; url=${prefix}/d/">`,
      '<a href="//host.example/e/"><img src="//host.example/f.png"><meta content="0; url=//host.example/g/">',
      '<a href="https://host.example/h/"><p>href=/i/</p>',
    ].join('');
  const bundle = bundleOf(['/a/'], 'key', () => written(''));
  await renderPages(bundle, folder, { base: 'https://index.example/below' }, () => {});
  expect(readFileSync(path.join(folder, 'a~'), 'utf8')).toBe(written('/below'));
});
