import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { CatalogFile } from '../../../src/catalog/node-sqlite.ts';
import { CatalogSearch } from '../../../src/search/catalog-search.ts';
import { launchBrowser } from '../../support/browser.ts';
import { createPublished } from '../../support/published.ts';
import { type StaticServer, serveFolder } from '../../support/static-server.ts';
import { startTestServer, type TestServer } from '../../support/test-server.ts';
import { publishSources } from '../published-sources.ts';

/** What should not have happened on a page. */
export interface Heard {
  /** The requests to other hosts. */
  readonly outside: string[];
  /** What went wrong in scripts, or against the policy of the page. */
  readonly mistakes: string[];
}

/** A page in a profile of its own. */
export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Where what is heard on it is noted. */
  heard: Heard;
}

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

/** The site of made-up repositories, served twice, and a browser that looks at it: for the tests of one file. */
export class SiteInBrowser {
  /** The site as files alone. */
  files!: StaticServer;
  /** The same site where the function answers too. */
  computing!: TestServer;
  /** The output folder, which all files of a run share: for reading. */
  out = '';
  #index!: CatalogFile;
  #browser!: Browser;
  /** The profiles that a test opened, which end with it. */
  readonly #contexts: BrowserContext[] = [];
  #heard: Heard = { outside: [], mistakes: [] };

  async start(): Promise<void> {
    const { out, catalogPath } = await publishSources();
    this.out = out;
    this.files = await serveFolder(this.out);
    this.#index = CatalogFile.openReadOnly(catalogPath);
    this.computing = await startTestServer({
      published: { ...createPublished(), folder: this.out },
      overrides: { search: new CatalogSearch(this.#index) },
    });
    this.#browser = await launchBrowser();
  }

  async end(): Promise<void> {
    await this.#browser?.close();
    await this.files?.close();
    await this.computing?.close();
    this.#index?.close();
  }

  /** Closes what a test opened, and holds it to pages on which nothing went wrong. */
  async endTest(): Promise<void> {
    await this.closeContexts();
    const { mistakes } = this.#heard;
    this.#heard = { outside: [], mistakes: [] };
    expect(mistakes).toEqual([]);
  }

  /** The requests to other hosts, of all pages that this test opened. */
  get outside(): readonly string[] {
    return this.#heard.outside;
  }

  /** Opens a page in a new profile. Requests to other hosts are refused and noted; so is what goes wrong in scripts. */
  async visit(
    address: string,
    options: BrowserContextOptions,
    heard: Heard,
    base: string = this.files.base,
  ): Promise<Visit> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const opened: Visit = { page, context, heard };
    // Only what leaves the site is held back: to route all of it takes twice as long, and nothing is cached then.
    const devTools = await context.newCDPSession(page);
    devTools.on('Fetch.requestPaused', ({ requestId, resourceType, request: { url, headers } }) => {
      opened.heard.outside.push(`${resourceType.toLowerCase()} ${url} ${headers.Referer ?? 'no referrer'}`);
      devTools.send('Fetch.failRequest', { requestId, errorReason: 'Failed' }).catch(() => {});
    });
    await devTools.send('Fetch.enable', { patterns: [{ urlPattern: 'https://*' }] });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(base) && !url.startsWith('https://'))
        opened.heard.outside.push(`${request.resourceType()} ${url}`);
    });
    page.on('pageerror', (error) => opened.heard.mistakes.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) opened.heard.mistakes.push(message.text());
    });
    await page.goto(base + address);
    return opened;
  }

  /** The page of a visit that ends with the test. */
  async open(address: string, options: BrowserContextOptions = {}, base: string = this.files.base): Promise<Page> {
    const opened = await this.visit(address, options, this.#heard, base);
    this.#contexts.push(opened.context);
    return opened.page;
  }

  async closeContexts(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((one) => one.close()));
  }
}

/** A site in a browser for the tests of the file that calls this. */
export const useSiteInBrowser = (): SiteInBrowser => {
  const site = new SiteInBrowser();
  beforeAll(() => site.start(), 120_000);
  afterEach(() => site.endTest());
  afterAll(() => site.end());
  return site;
};
