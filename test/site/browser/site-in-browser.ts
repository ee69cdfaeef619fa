import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { CatalogFile } from '../../../src/catalog/node-sqlite.ts';
import { patience } from '../../../src/results/patience.ts';
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
  readonly devTools: CDPSession;
  /** Where the site is that it looks at. */
  base: string;
  /** Where what is heard on it is noted. */
  heard: Heard;
}

/** Begins a profile anew that a test before has used, before any script of the page runs. */
const forget = `if (window.name === 'used') { localStorage.clear(); sessionStorage.clear(); window.name = ''; }`;

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

const waitForIndex = `{
  const set = window.setTimeout;
  window.setTimeout = (run, wait, ...more) => set(run, wait === ${patience} ? 600_000 : wait, ...more);
}`;

/** What a page has where a test asks for nothing else. */
const usual: { readonly viewport: { width: number; height: number }; readonly colorScheme: 'light' | 'dark' } = {
  viewport: { width: 1280, height: 900 },
  colorScheme: 'light',
};

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
  /** The profiles that a test opened beside those that stay, which end with it. */
  readonly #contexts: BrowserContext[] = [];
  /** A page for each kind of profile, which one test after another begins anew: a new one is a process that starts. */
  readonly #kept = new Map<string, Visit>();
  readonly #used = new Set<string>();
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
    const context = await this.#browser.newContext({ ...usual, ...options });
    const page = await context.newPage();
    const devTools = await context.newCDPSession(page);
    const opened: Visit = { page, context, devTools, base, heard };
    // Only what leaves the site is held back: to route all of it takes twice as long, and nothing is cached then.
    devTools.on('Fetch.requestPaused', ({ requestId, resourceType, request: { url, headers } }) => {
      opened.heard.outside.push(`${resourceType.toLowerCase()} ${url} ${headers.Referer ?? 'no referrer'}`);
      devTools.send('Fetch.failRequest', { requestId, errorReason: 'Failed' }).catch(() => {});
    });
    await devTools.send('Fetch.enable', { patterns: [{ urlPattern: 'https://*' }] });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(opened.base) && !url.startsWith('https://'))
        opened.heard.outside.push(`${request.resourceType()} ${url}`);
    });
    page.on('pageerror', (error) => opened.heard.mistakes.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) opened.heard.mistakes.push(message.text());
    });
    await page.goto(base + address);
    return opened;
  }

  /** A page in a profile that holds nothing, until the test ends. */
  async open(address: string, options: BrowserContextOptions = {}, base: string = this.files.base): Promise<Page> {
    const kind = JSON.stringify(options);
    if (this.#used.has(kind)) return this.openAnother(address, options, base);
    this.#used.add(kind);
    const kept = this.#kept.get(kind);
    if (kept === undefined) {
      const opened = await this.visit(address, options, this.#heard, base);
      await opened.page.addInitScript(forget);
      this.#kept.set(kind, opened);
      return opened.page;
    }
    kept.heard = this.#heard;
    kept.base = base;
    await kept.devTools.send('Network.clearBrowserCache');
    await kept.page.goto(base + address);
    return kept.page;
  }

  /**
   * The same where the function answers, on a page that waits for it: a busy machine, or a test that holds a request back,
   * may take longer than a visitor waits, and then the page asks the files for a while.
   */
  async openPatient(address: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.open(address, options, this.computing.address);
    await page.addInitScript(waitForIndex);
    await page.evaluate(waitForIndex);
    return page;
  }

  /** A page in a profile of its own, for a test that does more to it than can be taken back. */
  async openAnother(address: string, options: BrowserContextOptions, base: string): Promise<Page> {
    const opened = await this.visit(address, options, this.#heard, base);
    this.#contexts.push(opened.context);
    return opened.page;
  }

  /** Ends what was opened: what is opened after it holds nothing again. */
  async closeContexts(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((one) => one.close()));
    await Promise.all(
      [...this.#used].map(async (kind) => {
        const { page, context } = this.#kept.get(kind) ?? {};
        await page?.unrouteAll({ behavior: 'ignoreErrors' });
        // As it was opened, whatever a test made of it.
        const { viewport, colorScheme } = { ...usual, ...(JSON.parse(kind) as typeof usual) };
        const size = page?.viewportSize();
        if (size?.width !== viewport.width || size.height !== viewport.height) await page?.setViewportSize(viewport);
        await page?.emulateMedia({ colorScheme });
        await page?.evaluate("window.name = 'used'").catch(() => {
          this.#kept.delete(kind);
          return context?.close();
        });
      }),
    );
    this.#used.clear();
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
