import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { indexEntry } from '../../../src/results/file-index.ts';
import { buildSearchIndex } from '../../../src/site/search-index.ts';
import { SiteCatalog } from '../../../src/site/site-catalog.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { serveFolder } from '../../support/static-server.ts';
import { type Source, sources, stanza, writeCatalog } from '../fixture.ts';
import { phone, useSiteInBrowser } from './site-in-browser.ts';

const site = useSiteInBrowser();

/** The results of a question, on a host whose index can be replaced by one of other packages. */
const openOnHost = async (query = 'many', options: BrowserContextOptions = {}) => {
  const folder = temporaryFolder();
  cpSync(site.out, folder, { recursive: true });
  const host = await serveFolder(folder);
  onTestFinished(() => host.close());
  const visit = await site.open('/about/', options);
  await visit.goto(`${host.base}/search/?q=${encodeURIComponent(query)}`);
  await visit.locator('#results .name').first().waitFor();
  const replaceIndex = async () => {
    const later = Array.from({ length: 60 }, (_, number) =>
      stanza({ Package: `later${number}`, Name: `Later ${number}`, Description: 'Of many' }),
    );
    const file = path.join(folder, 'later.sqlite');
    await writeCatalog(file, [{ ...(sources[0] as Source), packages: later.join('') }], host.base);
    const catalog = new SiteCatalog(file);
    await buildSearchIndex(catalog, path.join(folder, 'search-index'));
    catalog.close();
  };
  return { page: visit, host, replaceIndex, entry: path.join(folder, indexEntry) };
};

const names = (page: Page) => page.locator('#results .name').allTextContents();
const field = (page: Page) => page.locator('main input[name=q]');

describe('an index that is replaced while a page of it is open', () => {
  it('is asked in place of the one before', async () => {
    const { page, host, replaceIndex } = await openOnHost();
    const entries = host.requests.filter((name) => name.endsWith('/search-index/index.json'));
    expect(entries, 'asked for once').toHaveLength(1);
    await replaceIndex();
    await field(page).fill('later 7');
    await expect.poll(() => names(page)).toContain('Later 7');
    expect(await page.locator('#search-status').textContent()).toMatch(/^\d+ packages?$/);
  });

  it('gives the rest of a list whose files are gone', async () => {
    const { page, replaceIndex } = await openOnHost();
    await replaceIndex();
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => names(page)).toContainEqual(expect.stringMatching(/^Later /));
    expect(await names(page)).toContainEqual(expect.stringMatching(/^Many /));
  });

  it('counts anew what each filter leaves, for a query of which only a part is found too', async () => {
    for (const query of ['many', 'many zzqqzz']) {
      const { page, replaceIndex } = await openOnHost(query, phone);
      await replaceIndex();
      await page.locator('#facets summary').click();
      await expect
        .poll(() => page.locator('select[name=price] option').allTextContents(), { message: query })
        .toEqual(['Any', 'Free (60)']);
    }
  });

  it('is told from a host that does not answer, which is no reason to say that there is nothing', async () => {
    const { page } = await openOnHost();
    await page.context().setOffline(true);
    try {
      await field(page).fill('nothing called so');
      await expect.poll(() => page.locator('#search-status').textContent()).toContain('could not be loaded');
    } finally {
      await page.context().setOffline(false);
    }
    await field(page).fill('snowboar');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    await field(page).fill('nothing called so');
    await expect.poll(() => page.locator('#nothing').isVisible()).toBe(true);
  });

  it('is read anew after the host has answered with other JSON in its place', async () => {
    const { page, entry } = await openOnHost();
    const kept = readFileSync(entry);
    const status = page.locator('#search-status');
    for (const other of ['{"error":"Service unavailable"}', 'null', '[]']) {
      writeFileSync(entry, other);
      // An open page, which asks again because nothing is found, and one that is loaded.
      for (const load of [() => field(page).fill('nothing called so'), () => page.reload()]) {
        await load();
        await expect.poll(() => status.textContent(), { message: other }).toContain('could not be loaded');
      }
      writeFileSync(entry, kept);
      await field(page).fill('snowboar');
      await expect.poll(() => names(page), { message: other }).toEqual(['SnowBoard']);
    }
  });
});
