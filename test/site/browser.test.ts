import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readSafetyEntries, safetyFile } from '../../functions/node/safety-file.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { publishSite } from '../../src/pipeline/site-step.ts';
import { CatalogSearch } from '../../src/search/catalog-search.ts';
import { launchBrowser } from '../support/browser.ts';
import { brokenLinks } from '../support/links.ts';
import { createPublished } from '../support/published.ts';
import { type StaticServer, serveFolder } from '../support/static-server.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import {
  countDownloads,
  hostile,
  keepDepiction,
  lastBuild,
  sources,
  telling,
  temporaryFolder,
  writeCatalog,
} from './fixture.ts';

const { folder, remove } = temporaryFolder();
const out = path.join(folder, 'out');
let server: StaticServer;
/** The same site where the function answers too. */
let computing: TestServer;
let index: CatalogFile;
let browser: Browser;
/** The profiles that a test opened, which end with it. */
const contexts: BrowserContext[] = [];
let outside: string[] = [];
let mistakes: string[] = [];

/** What should not have happened on a page. */
interface Heard {
  /** The requests to other hosts. */
  readonly outside: string[];
  /** What went wrong in scripts, or against the policy of the page. */
  readonly mistakes: string[];
}

/** A page in a profile of its own. */
interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Where what is heard on it is noted. */
  heard: Heard;
}

/** Opens a page in a new profile. Requests to other hosts are refused and noted; so is what goes wrong in scripts. */
const visit = async (
  address: string,
  options: BrowserContextOptions,
  heard: Heard,
  base = server.base,
): Promise<Visit> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
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
};

/** The page of a visit that ends with the test. */
const open = async (address: string, options: BrowserContextOptions = {}, base = server.base): Promise<Page> => {
  const opened = await visit(address, options, { outside, mistakes }, base);
  contexts.push(opened.context);
  return opened.page;
};
const closeContexts = async (): Promise<void> => {
  await Promise.all(contexts.splice(0).map((one) => one.close()));
};

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

beforeAll(async () => {
  const catalogPath = path.join(folder, 'catalog.sqlite');
  await writeCatalog(catalogPath, sources, 'https://index.example');
  countDownloads(catalogPath, { 'com.alpha.snowboard': 1200, ellekit: 80, 'com.beta.only': 1 });
  const cacheDir = path.join(folder, 'cache');
  const depictions = await keepDepiction(path.join(folder, 'kept'), telling);
  const safety = readSafetyEntries(safetyFile).slice(0, 4);
  await publishSite({
    catalogPath,
    lastBuild,
    depictions,
    outDir: out,
    cacheDir,
    baseUrl: 'https://index.example',
    safety,
  });
  server = await serveFolder(out);
  index = CatalogFile.openReadOnly(catalogPath);
  computing = await startTestServer({
    published: { ...createPublished(), folder: out },
    overrides: { search: new CatalogSearch(index) },
  });
  browser = await launchBrowser();
}, 120_000);
afterEach(async () => {
  await closeContexts();
  expect(mistakes).toEqual([]);
  mistakes = [];
  outside = [];
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await computing?.close();
  index?.close();
  remove();
});

const kinds: Readonly<Record<string, string>> = {
  landing: '/',
  search: '/search/?q=snow',
  'empty search': '/search/?q=snow&section=themes',
  repositories: '/repository/',
  repository: '/repository/alpha/',
  'repository in trouble': '/repository/beta/',
  'long list': '/repository/many/2/',
  package: '/package/com.alpha.snowboard/',
  sections: '/section/',
  section: '/section/themes/',
  ranking: '/ranking/',
  new: '/new/',
  popular: '/popular/',
  authors: '/author/',
  author: '/author/ada-example/',
  doctor: '/doctor/',
  'doctor of a repository': '/doctor/beta/',
  status: '/status/',
  api: '/api/',
  changes: '/changes/',
  privacy: '/privacy/',
  safety: '/safety/',
  divergence: '/divergence/',
  about: '/about/',
  'not found': '/no/such/page',
};
/** Words of up to sixteen letters that stand on two lines, which only a break within them can do. Addresses are none. */
const splitWords = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector('#content'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('.mono, code, pre, time')) continue;
    for (const { index, 0: word } of node.data.matchAll(/(?<![^\\s(])\\p{L}{2,16}(?![^\\s.,;:!?)]|[.:]\\S)/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
      if (tops.size > 1) found.push(word);
    }
  }
  return found;
})()`;

// Links, buttons and fields below 24 px (WCAG 2.2, 2.5.8) that are not words of a sentence, and names that have no room
// for a word. What is hidden from view shows itself, larger, when the keyboard comes to it.
const smallTargets = `[...document.querySelectorAll('a[href], button, input, select, summary, h1, td a')].flatMap((one) => {
  const { width, height } = one.getBoundingClientRect();
  const around = one.closest('p, dd, li, td, h3');
  const inSentence = getComputedStyle(one).display === 'inline' && around && around.textContent.trim() !== one.textContent.trim();
  if (!one.checkVisibility() || inSentence || width <= 1 || (width >= 24 && height >= 24)) return [];
  return [one.outerHTML.slice(0, 120) + ' is ' + width + ' by ' + height];
})`;
// What axe finds in a row it finds in those before it, which are made alike, and it takes seconds for a thousand of them.
const shortenLists = `for (const rows of document.querySelectorAll('ul, ol, tbody')) {
  for (const row of [...rows.children].slice(16)) row.remove();
}`;
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

it('looks at every kind of page there is', () => {
  const pages = path.join(import.meta.dirname, '..', '..', 'src', 'pages');
  const looked = Object.values(kinds).map((address) => new URL(address, 'https://index.test').pathname);
  const missing = globSync('**/*.astro', { cwd: pages }).filter((file) => {
    if (file === '404.astro') return false;
    const segments = file
      .replace(/(?:^|\/)index\.astro$|\.astro$/, '')
      .split('/')
      .filter(Boolean);
    const pattern = segments.map((segment) => {
      if (segment.startsWith('[...')) return '(?:.+/)?';
      return segment.startsWith('[') ? '[^/]+/' : `${segment}/`;
    });
    return !looked.some((address) => new RegExp(`^/${pattern.join('')}$`).test(address));
  });
  expect(missing).toEqual([]);
});

const onDesktop = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } as const;
const onPhone = { ...phone, colorScheme: 'light', bypassCSP: true } as const;
type Emulated = typeof onDesktop | typeof onPhone;
/** The pages that have looked, and may look at another kind: to start one for each takes as long as to look. */
const waiting = new Map<Emulated, Visit[]>([
  [onDesktop, []],
  [onPhone, []],
]);

// Some at once: most of the time of a page goes by waiting for it to come to rest.
describe.concurrent.each(Object.entries(kinds))('page kind: %s', (_, address) => {
  /** Looks at the page when it has come to rest. */
  const look = async (options: Emulated, see: (page: Page) => Promise<void>): Promise<Heard> => {
    const heard: Heard = { outside: [], mistakes: [] };
    const known = waiting.get(options)?.pop();
    const opened = known ?? (await visit(address, options, heard));
    const { page } = opened;
    if (known) {
      known.heard = heard;
      // As it was when it was new.
      await page.emulateMedia({ colorScheme: options.colorScheme });
      await page.setViewportSize(options.viewport);
      await page.goto(server.base + address);
    }
    const rest = () => page.waitForLoadState('networkidle', { timeout: 20_000 });
    // A request that ended with the page before is at times never told to have ended: then one waits without end.
    await rest().catch(async (error: Error) => {
      if (error.name !== 'TimeoutError') throw error;
      await page.reload();
      await rest();
    });
    await see(page);
    waiting.get(options)?.push(opened);
    expect(heard.mistakes).toEqual([]);
    return heard;
  };

  it('has no violation that axe knows, in the light theme and in the dark one; at 1440 pixels the middle is used, and targets are large there too', () =>
    look(onDesktop, async (page) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      expect(await page.evaluate(smallTargets)).toEqual([]);
      expect((await page.locator('main > .wrap').boundingBox())?.width).toBeGreaterThan(1200);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      await page.setViewportSize(onDesktop.viewport);
      await page.evaluate(shortenLists);
      await page.evaluate(axe);
      expect(await violationsOf(page)).toEqual([]);
      const ground = 'getComputedStyle(document.documentElement).backgroundColor';
      const light = await page.evaluate(ground);
      await page.emulateMedia({ colorScheme: 'dark' });
      // The other theme has the same elements in other colours, so it is asked about those alone.
      expect(await violationsOf(page, ['cat.color'])).toEqual([]);
      expect(await page.evaluate(ground)).not.toBe(light);
    }));

  it('fits a phone and letters twice as large: nothing overflows, no word splits, targets are large, axe finds nothing, and only images come from third parties', async () => {
    const { outside } = await look(onPhone, async (page) => {
      const enlarge = (size: string) => page.addStyleTag({ content: `html { font-size: ${size} }` });
      const overflow = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
      const phone = page.viewportSize() ?? { width: 0, height: 0 };
      await page.setViewportSize({ ...phone, width: 320 });
      await enlarge('200%');
      expect(await overflow(), 'on the smallest').toBeLessThanOrEqual(0);
      await page.setViewportSize(phone);
      for (const size of ['200%', '100%']) {
        await enlarge(size);
        expect(await overflow(), size).toBeLessThanOrEqual(0);
        expect(await page.evaluate(splitWords), size).toEqual([]);
        expect(await page.evaluate(smallTargets), size).toEqual([]);
      }
      await page.evaluate(shortenLists);
      await page.evaluate(axe);
      expect(await violationsOf(page)).toEqual([]);
      // What stands on other ground on a phone does so in both themes.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await violationsOf(page, ['cat.color'])).toEqual([]);
      // Larger letters change where things lie and whether they scroll, and neither names nor colours.
      await enlarge('200%');
      expect(await violationsOf(page, ['cat.sensory-and-visual-cues', 'cat.keyboard'])).toEqual([]);
    });
    for (const request of outside) expect(request).toMatch(/^image .* no referrer$/);
  });
});
/** Gives what strangers name a word of a hundred letters, one after another, and tells what then leaves its page or card. */
const longNames = `(() => {
  const word = 'Pneumonoultramicroscopic_silicovolcanoconiosis_01234567890'.repeat(2).slice(0, 100);
  const named = 'h1, h2 bdi, [dir], .version, .mono, .facts a, .crumbs a, .by a, .copies .chip, .operation a';
  const found = [];
  for (const element of document.querySelectorAll('#content :is(' + named + ')')) {
    const text = [...element.childNodes].find((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!text || !element.checkVisibility()) continue;
    const { data } = text;
    text.data = word;
    const card = element.closest('.card, .list, .tabbed, .note');
    const leaves = card && !element.closest('.scroll') && getComputedStyle(element).overflowX === 'visible'
      && element.getBoundingClientRect().right > card.getBoundingClientRect().right;
    if (leaves || document.documentElement.scrollWidth > innerWidth) found.push(element.outerHTML);
    text.data = data;
  }
  return found;
})()`;

it.each([
  '/package/com.alpha.snowboard/',
  '/repository/alpha/',
  '/author/ada-example/',
  '/doctor/beta/',
  '/new/',
  '/api/',
])('%s holds names, versions and addresses of any length, with letters twice as large too', async (address) => {
  for (const options of [
    phone,
    { viewport: { width: 1024, height: 768 } },
    { viewport: { width: 1440, height: 900 } },
  ]) {
    const page = await open(address, { ...options, bypassCSP: true });
    expect(await page.evaluate(longNames)).toEqual([]);
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(await page.evaluate(longNames)).toEqual([]);
  }
});

it('the reference gives meanings the width of a phone, and of a wide page all but that of a name', async () => {
  for (const [options, part] of [
    [phone, 0.7],
    [{ viewport: { width: 1440, height: 900 } }, 0.75],
  ] as const) {
    const page = await open('/api/', options);
    const list = page.locator('#packageSearch .parameters');
    const [all, meaning] = await Promise.all([list.boundingBox(), list.locator('dd').first().boundingBox()]);
    expect(meaning?.width).toBeGreaterThan(part * (all?.width ?? 9999));
  }
});

it('gives the words about what needs attention the width of a phone, beside the tile', async () => {
  const page = await open('/status/', phone);
  const reason = await page.locator('#attention .reason').first().boundingBox();
  expect(reason?.width).toBeGreaterThan(phone.viewport.width * 0.6);
});

/** What axe finds on a page into which it was loaded: by all of its rules, or by those of some kinds. */
const violationsOf = (page: Page, kinds?: readonly string[]): Promise<string[]> =>
  page.evaluate(
    async (options) => {
      const { axe } = globalThis as unknown as Axe;
      const result = await axe.run({ ...options, resultTypes: ['violations'] });
      return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`);
    },
    kinds === undefined ? {} : { runOnly: [...kinds] },
  );
interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
interface Axe {
  readonly axe: { run(options: object): Promise<{ violations: AxeViolation[] }> };
}

describe('searching', () => {
  it('answers below the field of the landing page, by keyboard alone', async () => {
    server.requests.length = 0;
    const page = await open('/');
    expect(server.requests.some((name) => name.startsWith('/pagefind/'))).toBe(false);
    await page.keyboard.press('/');
    await page.keyboard.type('snow');
    await page.locator('#suggestions [role=option]').first().waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('combobox').getAttribute('aria-activedescendant')).toBe('suggestion-0');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/package/com.alpha.snowboard/');
    expect(await page.locator('h1').textContent()).toBe('SnowBoard');
  });

  it('loads nothing of the search before its field is used', async () => {
    server.requests.length = 0;
    const page = await open('/package/com.alpha.snowboard/');
    await page.waitForLoadState('networkidle');
    expect(server.requests.filter((name) => name.startsWith('/pagefind/'))).toEqual([]);

    // Then it finds out who answers while the script loads, and all that Pagefind reads comes at once.
    const asked = (part: string) => server.requests.filter((name) => name.includes(part)).length;
    const hold = async (pattern: RegExp) => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
      await page.route(pattern, async (route) => {
        await held;
        await route.continue().catch(() => {});
      });
      return letGo;
    };
    const letScriptGo = await hold(/\/assets\/suggest\./);
    const letPagefindGo = await hold(/\/pagefind\/pagefind\.js/);
    await page.evaluate(`(() => {
      const field = document.querySelector('[role=combobox]');
      const listen = field.addEventListener;
      globalThis.begun = 0;
      field.addEventListener = (type, ...rest) => {
        if (type === 'input') globalThis.begun++;
        listen.call(field, type, ...rest);
      };
    })()`);
    await page.getByRole('combobox').dispatchEvent('pointerdown');
    await expect.poll(() => asked('/v2/livez')).toBe(1);
    letScriptGo();
    await expect.poll(() => [asked('pagefind-entry.json'), asked('wasm.unknown')]).toEqual([1, 1]);
    letPagefindGo();
    await expect.poll(() => asked('.pf_meta')).toBe(1);
    await page.getByRole('combobox').focus();
    await page.keyboard.type('snow');
    await page.getByRole('option', { name: 'SnowBoard' }).waitFor();
    expect(await page.evaluate('globalThis.begun'), 'begun once').toBe(1);
    expect([asked('pagefind-entry.json'), asked('wasm.unknown'), asked('.pf_meta')], 'each once').toEqual([1, 1, 1]);
    expect(server.requests.filter((name) => /^\/v2\/(?!.*\/download\/)/.test(name))).toEqual(['/v2/livez']);
  });

  it('shows on files alone what two letters begin before it can search, and of that what has the letters since', async () => {
    const page = await open('/about/');
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    await page.route('**/pagefind/pagefind.js', async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    const names = page.locator('#suggestions [role=option] .name');
    const status = page.getByRole('status');
    await page.getByRole('combobox').fill('ma');
    await expect.poll(() => names.count()).toBe(8);
    const begun = await names.allTextContents();
    expect(begun.slice(0, 2)).toEqual(['Many 000', 'Many 001']);
    expect(begun.at(-1)).toBe('All results');
    expect(await status.textContent()).toBe('7 suggestions; Enter shows all results');
    await page.getByRole('combobox').fill('many 004');
    await expect.poll(() => names.allTextContents()).toEqual(['Many 004']);
    letGo();
    await expect.poll(() => status.textContent()).toBe('1 found; Enter shows all');
    // A list that holds no more than one, and letters that have none.
    await page.getByRole('combobox').fill('sn');
    await expect.poll(() => names.allTextContents()).toEqual(['SnowBoard', 'All results']);
    expect(await status.textContent()).toBe('1 suggestion; Enter shows all results');
    await page.getByRole('combobox').fill('qx');
    await expect.poll(() => status.textContent()).toBe('Nothing found');
    // A host that answers with a page for what is not there.
    await page.route('**/pagefind/beginnings/*', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<p>Here' }),
    );
    await page.getByRole('combobox').fill('el');
    await expect.poll(() => names.allTextContents()).toContain('ElleKit');
    expect(await status.textContent()).toMatch(/found; Enter shows all$/);
  });

  it('what two letters begin gives way to what was asked since, and makes ready what the next letter needs', async () => {
    const page = await open('/about/');
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: answered, resolve: tell } = Promise.withResolvers<void>();
    await page.route('**/pagefind/beginnings/6d-61.json', async (route) => {
      await held;
      await route.continue().catch(() => {});
      tell();
    });
    const names = page.locator('#suggestions [role=option] .name');
    // On a busy machine what asks is loaded after both were typed, and then never asks for the first.
    const asked = page.waitForRequest('**/pagefind/beginnings/6d-61.json');
    await page.getByRole('combobox').fill('ma');
    await asked;
    server.requests.length = 0;
    await page.getByRole('combobox').fill('sn');
    await expect.poll(() => names.allTextContents()).toEqual(['SnowBoard', 'All results']);
    await expect.poll(() => server.requests.some((name) => name.startsWith('/pagefind/index/'))).toBe(true);
    letGo();
    await answered;
    await page.waitForLoadState('networkidle');
    expect(await names.allTextContents()).toEqual(['SnowBoard', 'All results']);
  });

  it('asks for no list of what two letters begin where the index answers', async () => {
    const page = await open('/about/', {}, computing.address);
    const lists: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/pagefind/')) lists.push(request.url());
    });
    await page.getByRole('combobox').fill('sn');
    await page.getByRole('option', { name: 'SnowBoard' }).waitFor();
    expect(lists).toEqual([]);
  });

  it('shows of what it found before what has the letters since, until the answer is there, and keeps the row walked to', async () => {
    const page = await open('/about/', {}, computing.address);
    const option = page.locator('#suggestions [role=option]');
    await page.getByRole('combobox').fill('al');
    await expect.poll(() => option.count()).toBeGreaterThan(1);
    const some = await option.count();
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    await page.route('**/package/search?*', async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await page.keyboard.press('End');
    await page.keyboard.type('pha l');
    await expect.poll(() => option.locator('.name').allTextContents()).toEqual(['Alpha Library']);
    expect(some).toBeGreaterThan(1);
    await page.keyboard.press('ArrowDown');
    letGo();
    await expect.poll(() => page.getByRole('status').textContent()).toMatch(/Enter shows all/);
    const walkedTo = await page.getByRole('combobox').getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${walkedTo}"] .name`).textContent()).toBe('Alpha Library');
  });

  it('Escape closes the list, Enter leads to all results', async () => {
    const page = await open('/');
    await page.getByRole('combobox').fill('alpha');
    await page.locator('#suggestions [role=option]').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#suggestions').isHidden()).toBe(true);
    await page.keyboard.press('ArrowDown');
    await page.locator('#suggestions [role=option]').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#suggestions').isHidden()).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=alpha');
    await page.locator('#results .name').first().waitFor();
  });

  it('the last row of the list leads to all results, where there are more than fit', async () => {
    const page = await open('/');
    await page.getByRole('combobox').fill('many');
    const last = page.getByRole('option', { name: 'All 240 results' });
    await last.waitFor();
    expect(await page.locator('#suggestions [role=option]').count()).toBe(8);
    await page.keyboard.press('ArrowUp');
    expect(await last.getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=many');
  });

  it('the list leaves nothing of the line below the field in sight', async () => {
    const page = await open('/', phone);
    await page.getByRole('combobox').fill('ellekit');
    await page.locator('#suggestions [role=option]').first().waitFor();
    const hidden = await page.evaluate(`(() => {
      const line = document.querySelector('.find .status').getBoundingClientRect();
      const above = document.elementFromPoint(line.left + 20, line.top + line.height / 2);
      return document.querySelector('#suggestions').contains(above);
    })()`);
    expect(hidden).toBe(true);
    // Nor between the field and itself.
    const clip = () => page.evaluate(`getComputedStyle(document.querySelector('.find .status')).clipPath`);
    expect(await clip()).toBe('inset(50%)');
    await page.keyboard.press('Escape');
    expect(await clip()).toBe('none');
  });

  const names = (page: Page) => page.locator('#results .name').allTextContents();

  it('finds a package by the beginning of a word, a word within a name, an identifier, a name in one word, and its author', async () => {
    const page = await open('/search/');
    for (const [question, name] of [
      ['sno', 'SnowBoard'],
      ['board', 'SnowBoard'],
      ['fomo', 'NoFomoFix'],
      ['nofomofix', 'NoFomoFix'],
      ['com.alpha.lib', 'Alpha Library'],
      ['alphalibrary', 'Alpha Library'],
      ['ada exa', 'SnowBoard'],
    ] as const) {
      await page.goto(`${server.base}/search/?q=${encodeURIComponent(question)}`);
      await page.locator('#results .name').first().waitFor();
      expect(await names(page), question).toContain(name);
    }
  });

  it('filters and sorts, and its address can be shared', async () => {
    const page = await open('/search/', phone);
    await page.getByText('Narrow and sort').click();
    await page.getByLabel('Section').selectOption('themes');
    await page.locator('#results .name').first().waitFor();
    expect(await page.locator('#search-status').textContent()).toBe('240 packages');
    const offered = (name: string) => page.locator(`select[name=${name}] option`).allTextContents();
    // Each facet counts what it would leave beside the others, and leaves out what there is none of.
    await expect.poll(() => offered('price')).toEqual(['Any', 'Free (240)']);
    expect(await offered('repository')).toEqual(['Any', 'Many packages (240)']);
    expect((await offered('section')).some((text) => /^Tweaks \(\d\)$/.test(text))).toBe(true);
    expect(await offered('state')).toEqual(['Any', 'Released, repository answers (240)']);
    expect(await page.locator('#chosen-count').textContent()).toBe('1 chosen');
    expect((await names(page)).slice(0, 2)).toEqual(['Many 000', 'Many 001']);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(async () => (await names(page)).length).toBe(40);
    await page.getByLabel('Section').selectOption('');
    await page.getByLabel('Price').selectOption('paid');
    await expect.poll(() => names(page)).toEqual(['NoFomoFix']);
    expect(new URL(page.url()).search).toBe('?price=paid');
    await page.reload();
    await expect.poll(() => names(page)).toEqual(['NoFomoFix']);
  });

  it('takes each choice back, one after another, as the browser goes back', async () => {
    const page = await open('/about/');
    await page.goto(`${server.base}/search/?q=alpha`);
    await page.locator('#results .name').first().waitFor();
    const choices = () => new URL(page.url()).search;
    await page.getByLabel('Price').selectOption('paid');
    await expect.poll(choices).toBe('?q=alpha&price=paid');
    // By its arrow keys one comes to an option past others: one step, until one has turned elsewhere.
    await page.getByLabel('Order').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(choices).toBe('?q=alpha&price=paid&sort=downloads');
    await page.getByLabel('Price').focus();
    await page.getByLabel('Order').focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(choices).toBe('?q=alpha&price=paid&sort=name');
    await page.goBack();
    expect(choices()).toBe('?q=alpha&price=paid&sort=downloads');
    await page.goBack();
    expect(choices()).toBe('?q=alpha&price=paid');
    expect(await page.getByLabel('Order').inputValue()).toBe('');
    await page.goBack();
    expect(choices()).toBe('?q=alpha');
    expect(await page.getByLabel('Price').inputValue()).toBe('');
    await expect.poll(() => names(page)).toContain('Alpha Library');
    await page.goForward();
    expect(await page.getByLabel('Price').inputValue()).toBe('paid');
    await expect.poll(() => names(page)).not.toContain('Alpha Library');
    await page.goBack();
    // The same select has the focus still, and what is chosen there is another step.
    await page.getByLabel('Price').focus();
    await page.keyboard.press('ArrowDown');
    await page.goBack();
    await page.keyboard.press('ArrowDown');
    await expect.poll(choices).toMatch(/^\?q=alpha&price=/);
    await page.goBack();
    expect(choices()).toBe('?q=alpha');
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe('/about/');
  });

  it('goes back to what an address says, whatever was counted since, in its title too', async () => {
    const page = await open('/search/?q=alpha&section=libraries');
    await expect.poll(() => names(page)).toEqual(['Alpha Library']);
    expect(await page.title()).toMatch(/^alpha · /);
    await page.getByLabel('Section').selectOption('');
    await page.getByLabel('Price').selectOption('paid');
    const sections = () => page.locator('select[name=section] option').evaluateAll((all) => all.length);
    await expect.poll(sections).toBe(2);
    await page.getByLabel('Section').focus();
    await page.keyboard.press('ArrowDown');
    for (let step = 0; step < 3; step++) await page.goBack();
    expect(new URL(page.url()).search).toBe('?q=alpha&section=libraries');
    expect(await page.getByLabel('Section').inputValue()).toBe('libraries');
    await expect.poll(() => names(page)).toEqual(['Alpha Library']);
    expect(await page.title()).toMatch(/^alpha · /);
  });

  it('gives the row back to the keyboard where the function sent the page', async () => {
    const page = await open('/search/?q=alpha', {}, computing.address);
    await page.locator('#results .name').nth(2).focus();
    const name = await page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/package/**');
    await page.goBack();
    await expect.poll(() => page.evaluate('document.activeElement.textContent'), { timeout: 5000 }).toBe(name);
  });

  it('comes back to where one was, and not to where one was long before', async () => {
    const page = await open('/search/?q=many', phone);
    const row = page.locator('#results .name').nth(15);
    await row.click();
    await page.waitForURL('**/package/**');
    await page.goBack();
    await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(500);
    await page.evaluate('scrollTo(0, 0)');
    await page.locator('#facets summary').click();
    await page.getByLabel('Price').selectOption('free');
    await expect.poll(() => new URL(page.url()).search).toBe('?q=many&price=free');
    await page.goBack();
    await expect.poll(() => page.locator('#chosen-count').isVisible()).toBe(false);
    await expect.poll(() => page.locator('#results .name').count()).toBe(20);
    expect(await page.evaluate('[scrollY, history.state]')).toEqual([0, null]);
  });

  it('takes what an address asks and the page does not offer as not asked, and capitals for small letters', async () => {
    for (const base of [server.base, computing.address]) {
      const page = await open('/search/?q=alpha&section=bogus', {}, base);
      await expect.poll(() => names(page)).toContain('Alpha Library');
      await page.goto(`${base}/search/?q=alpha&section=Libraries`);
      await expect.poll(() => page.getByLabel('Section').inputValue()).toBe('libraries');
      await expect.poll(() => names(page)).toContain('Alpha Library');
      expect(await names(page)).not.toContain('EzSecretSettings');
    }
  });

  it('helps where nothing is found', async () => {
    const page = await open('/search/?q=snow&section=themes');
    await page.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await expect.poll(() => names(page)).toContain('SnowBoard');
    // Which is taken back as well, and what is typed is not: each letter would be a step.
    await page.getByRole('searchbox').first().pressSequentially('board');
    await page.goBack();
    await expect.poll(() => new URL(page.url()).search).toBe('?q=snow&section=themes');
    await page.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await expect.poll(() => names(page)).toContain('SnowBoard');
    // Where the function sent the page, too, nothing is to be cleared but what was chosen.
    for (const [more, isThere] of [
      ['', false],
      ['&section=themes', true],
    ] as const) {
      await closeContexts();
      const sent = await open(`/search/?q=zzzzqq${more}`, {}, computing.address);
      await sent.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
      await expect.poll(() => sent.getByRole('button', { name: 'Clear the filters' }).isVisible()).toBe(isThere);
    }
  });

  it('arrow keys walk through the results', async () => {
    const page = await open('/search/?q=alpha');
    await page.locator('#results .name').first().waitFor();
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.textContent')).toBe((await names(page))[1]);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await page.evaluate('document.activeElement.name')).toBe('q');
  });

  it('shows no filter that does nothing without JavaScript, on a phone too', async () => {
    for (const size of [phone, {}]) {
      const page = await open('/repository/', { ...size, javaScriptEnabled: false });
      expect(await page.locator('#repository-filters').isVisible()).toBe(false);
      expect(await page.locator('#repositories > li').count()).toBe(4);
      await closeContexts();
    }
  });

  it('says what is missing without JavaScript where only files are', async () => {
    const page = await open('/', { javaScriptEnabled: false });
    await page.getByRole('combobox').fill('snow');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=snow');
    expect(await page.locator('noscript h2').isVisible()).toBe(true);
    expect(await page.locator('#facets').isHidden()).toBe(true);
  });

  it('refuses what Pagefind finds by a shortened word, and forgives one typing mistake in a name', async () => {
    server.requests.length = 0;
    const page = await open('/search/?q=snow');
    await page.locator('#results .name').first().waitFor();
    expect(server.requests.filter((name) => name.startsWith('/pagefind/names/'))).toEqual([]);
    const field = page.getByRole('searchbox');
    for (const question of ['zzzzqq', 'snowzzzz', 'alpha zzzzqq']) {
      await field.fill(question);
      await page.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
      expect(await page.locator('#results .name:visible').count(), question).toBe(0);
      await field.fill('snow');
      await page.locator('#results .name').first().waitFor();
    }
    for (const [question, meant] of [
      ['snwoboard', 'SnowBoard'],
      ['elekit', 'ElleKit'],
      ['alpha libary', 'Alpha Library'],
    ] as const) {
      await field.fill(question);
      await page.locator('#fit a', { hasText: meant }).waitFor();
      expect((await names(page))[0], question).toBe(meant);
    }
    await page.locator('#fit a').click();
    await page.waitForURL('**/search/?q=Alpha%20Library');
    await expect.poll(() => page.locator('#fit').isHidden()).toBe(true);
  });

  it('shows the first result above the fold of a phone, each with its repository and builds, in letters that no phone enlarges', async () => {
    const page = await open('/search/?q=snow', phone);
    const first = page.locator('#results .row').first();
    await first.waitFor();
    const box = await first.boundingBox();
    expect((box?.y ?? 999) + (box?.height ?? 999)).toBeLessThan(420);
    expect(await first.locator('.place').textContent()).toBe('Alpha Repo');
    expect(await first.locator('.notches').getAttribute('title')).toBe('Rootless, RootHide');
    const sizes = `[...document.querySelectorAll('input, select')].map((one) => parseFloat(getComputedStyle(one).fontSize))`;
    expect(Math.min(...((await page.evaluate(sizes)) as number[]))).toBeGreaterThanOrEqual(16);
    await page.goto(`${server.base}/search/?q=ezsecret`);
    await page.locator('#results .name').first().waitFor();
    expect(await names(page)).toEqual(['EzSecretSettings']);
    expect(await page.evaluate(splitWords)).toEqual([]);
  });

  it('finds a package by a word of its description, and tells that where only files are', async () => {
    const page = await open('/search/?q=hides', phone);
    const row = page.locator('#results li').first();
    expect(await row.innerText()).toContain('Settings that the system hides');
    expect(await row.innerText()).not.toContain('¶');
  });

  it('back leads to the row that one came from, after more were shown', async () => {
    const page = await open('/search/?q=many', phone);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(async () => (await names(page)).length).toBe(40);
    const row = page.locator('#results .name').nth(33);
    const name = await row.textContent();
    await row.scrollIntoViewIfNeeded();
    const before = await page.evaluate('scrollY');
    await row.click();
    await page.waitForURL('**/package/**');
    await page.goBack();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(name);
    expect(Math.abs(Number(await page.evaluate('scrollY')) - Number(before))).toBeLessThan(60);
    // The browser leaves it at that, and leads back by itself to what is asked from here on.
    expect(await page.evaluate('history.scrollRestoration')).toBe('manual');
    await page.getByRole('searchbox').fill('man');
    await page.waitForURL('**q=man');
    expect(await page.evaluate('history.scrollRestoration')).toBe('auto');
  });

  it('shows more once, however often it is pressed before it is there', async () => {
    const page = await open('/search/?q=many', phone);
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    await page.evaluate(`for (const _ of [1, 2]) document.getElementById('more').click()`);
    await expect.poll(async () => (await names(page)).length).toBe(40);
    expect(new Set(await names(page)).size).toBe(40);
  });

  it('answers below the field in the header of every page', async () => {
    const page = await open('/about/');
    await page.keyboard.press('/');
    await page.keyboard.type('ellekit');
    await page.locator('#suggestions [role=option]').first().waitFor();
    // What is known by its beginning comes first, and tells of itself until everything was searched.
    await expect.poll(() => page.locator('.top .status').textContent()).toBe('1 found; Enter shows all');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/package/ellekit/');
  });
});

describe('searching where the function answers', () => {
  const names = (page: Page) => page.locator('#results .name:visible').allTextContents();
  const watch = (page: Page): string[] => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    return asked;
  };
  const api = '**/v2/jailbreak/package/search**';
  // But for icons, which go where they do not load.
  const markupOf = (rows: readonly { readonly outerHTML: string }[]) =>
    rows.map((row) => row.outerHTML.replace(/<img[^>]*>/g, ''));

  it('asks the API as one types, and nothing of the files', async () => {
    const page = await open('/search/', {}, computing.address);
    const asked = watch(page);
    const field = page.getByRole('searchbox');
    await field.pressSequentially('snowboard', { delay: 60 });
    await expect.poll(() => names(page)).toContain('SnowBoard');
    // Spelling, the inside of words and all words but one are the index's to forgive.
    await field.fill('snwoboard');
    await page.locator('#fit a', { hasText: 'SnowBoard' }).waitFor();
    await field.fill('owboar');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    await field.fill('snowboard zzzzqq');
    await expect.poll(() => page.locator('#fit').textContent()).toMatch(/all but one/);
    expect(await names(page)).toEqual(['SnowBoard']);
    expect(asked.filter((name) => name.startsWith('/pagefind/'))).toEqual([]);
    expect(asked.filter((name) => name === '/v2/jailbreak/package/search').length).toBeGreaterThan(3);
  });

  it('puts a line before what has but a part of the question, and counts it apart', async () => {
    const page = await open('/search/', {}, computing.address);
    const lines = () =>
      page.evaluate<string[]>(
        'Array.from(document.querySelectorAll("#results > li"), (item) => getComputedStyle(item, "::before").content)',
      );
    for (const isSent of [false, true]) {
      if (isSent) await page.goto(`${computing.address}/search/?q=many+001`);
      else await page.getByRole('searchbox').fill('many 001');
      const status = page.locator('#search-status');
      await expect.poll(() => status.textContent()).toMatch(/^1 package, and (?:more|\d+) with all words but one$/);
      const [first, second, ...others] = await lines();
      expect([first, second, ...new Set(others)]).toEqual(['none', '"With all words but one"', 'none']);
    }
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => page.locator('#results .row').count()).toBeGreaterThan(32);
    expect((await lines()).filter((line) => line !== 'none')).toHaveLength(1);
  });

  it('asks one question at a time, and the last one is answered', async () => {
    const page = await open('/search/', {}, computing.address);
    await page.getByRole('searchbox').focus();
    const held: Promise<unknown>[] = [];
    let underWay = 0;
    let most = 0;
    page.on('requestfinished', (request) => request.url().includes('/package/search') && underWay--);
    page.on('requestfailed', (request) => request.url().includes('/package/search') && underWay--);
    await page.route(api, (route) => {
      most = Math.max(most, ++underWay);
      held.push(new Promise((resolve) => setTimeout(resolve, 150)).then(() => route.continue().catch(() => {})));
    });
    await page.keyboard.type('snowboard');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    await Promise.all(held);
    // Of nine keys at once few are asked at all.
    expect(held.length).toBeLessThan(9);
    expect(most).toBeLessThanOrEqual(2);
  });

  it.each([
    ['answers 501', (route: Route) => route.fulfill({ status: 501, json: {} })],
    ['answers 429', (route: Route) => route.fulfill({ status: 429, headers: { 'Retry-After': '60' }, json: {} })],
    ['answers 503', (route: Route) => route.fulfill({ status: 503, json: {} })],
    ['answers with a page', (route: Route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<p>?' })],
    ['answers with other JSON', (route: Route) => route.fulfill({ json: { error: 'no' } })],
    ['is down', (route: Route) => route.abort()],
    ['does not answer in time', () => undefined],
  ])('the files answer where the function %s, and it is left alone then', async (_, fail) => {
    const page = await open('/search/', {}, computing.address);
    let asked = 0;
    await page.route(api, (route) => {
      asked++;
      return fail(route);
    });
    await page.getByRole('searchbox').fill('snowboard');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    await page.getByRole('searchbox').fill('ellekit');
    await expect.poll(() => names(page)).toEqual(['ElleKit']);
    await page.goto(`${computing.address}/about/`);
    await page.getByRole('combobox').fill('nofomo');
    await page.getByRole('option', { name: 'NoFomoFix' }).waitFor();
    expect(asked).toBe(1);
  });

  it('C11: sends the page with its rows, which are those that scripts make, and asks for nothing more', async () => {
    const plain = await open('/', { javaScriptEnabled: false }, computing.address);
    const page = await open('/', {}, computing.address);
    const adopted = await open('/', {}, computing.address);
    const asked = watch(adopted);
    for (const question of ['snow', 'alpha', 'alert document', 'many']) {
      const target = `${computing.address}/search/?q=${encodeURIComponent(question)}`;
      await plain.goto(target);
      const sent = await plain.locator('#results .row').evaluateAll(markupOf);
      const status = await plain.locator('#search-status').textContent();
      expect(await plain.locator('noscript').count()).toBe(0);
      await page.goto(`${computing.address}/search/`);
      await page.getByRole('searchbox').fill(question);
      await expect.poll(() => page.locator('#search-status').textContent()).toMatch(/package|matches/);
      const made = await page.locator('#results .row').evaluateAll(markupOf);
      expect(made, question).toEqual(sent.slice(0, made.length));
      expect(made.length).toBe(Math.min(sent.length, 20));
      await adopted.goto(target);
      asked.length = 0;
      await adopted.waitForLoadState('networkidle');
      expect(await adopted.locator('#search-status').textContent()).toBe(status);
      expect(asked.filter((name) => /search|pagefind/.test(name))).toEqual([]);
      expect(await adopted.title()).not.toBe('owned');
    }
  });

  it('without JavaScript, it narrows and pages, from the field of the landing page on', async () => {
    const page = await open('/', { ...phone, javaScriptEnabled: false }, computing.address);
    await page.locator('main input[name=q]').fill('many');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=many');
    expect(await page.locator('#results .row').count()).toBe(32);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL('**/search/?q=many&page=2');
    expect((await names(page))[0]).toBe('Many 032');
    await page.locator('input[name=q]').fill('alpha');
    await page.getByText('Narrow and sort').click();
    await page.getByLabel('Section').selectOption('libraries');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => names(page)).toEqual(['Alpha Library']);
    expect(await page.getByLabel('Section').inputValue()).toBe('libraries');
    await page.goto(`${computing.address}/search/?q=snwoboard`);
    expect(await page.locator('#fit a').textContent()).toBe('SnowBoard');
    await page.goto(`${computing.address}/search/?q=${'x'.repeat(300)}`);
    expect(await page.locator('#search-status').textContent()).toMatch(/at most 256 characters/);
  });

  it('counts what results can be narrowed to, and goes on showing more', async () => {
    const page = await open('/search/?q=many', phone, computing.address);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(async () => (await names(page)).length).toBe(52);
    await page.getByText('Narrow and sort').click();
    await expect
      .poll(() => page.locator('select[name=section] option').allTextContents())
      .toEqual(['Any', 'Themes (240)']);
    await page.getByLabel('Order').selectOption('newest');
    await expect.poll(() => page.locator('#chosen-count').textContent()).toBe('1 chosen');
    await expect.poll(async () => (await names(page)).length).toBe(20);
  });

  it('offers what it did not count, where it counted a part', async () => {
    const page = await open('/search/?q=many', phone, computing.address);
    const states = () => page.locator('select[name=state] option').allTextContents();
    await page.route(api, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as object;
      await route.fulfill({ json: { ...answer, refs: { nextPage: 'https://index.example/more' } } });
    });
    await page.getByText('Narrow and sort').click();
    await expect
      .poll(states)
      .toEqual([
        'Any',
        'Released, repository answers (240+)',
        'Pre-release or debug build',
        'Repository does not answer',
      ]);
  });

  it('finds the same in every order and by what was chosen, sent and asked for, and the files are asked for none of it', async () => {
    const page = await open('/', {}, computing.address);
    const plain = await open('/', { javaScriptEnabled: false }, computing.address);
    const asked = watch(page);
    const at = (query: string) => `${computing.address}/search/?${query}`;
    for (const [query, expected] of [
      ['q=alpha&sort=name', ['Alpha Addon', 'Alpha Library']],
      ['q=snowboard+zzzzqq&sort=newest', ['SnowBoard']],
      ['q=snwoboard&sort=downloads', ['SnowBoard']],
      ['q=alpha&section=libraries', ['Alpha Library']],
      ['q=alpha&state=stale', []],
    ] as const) {
      await plain.goto(at(query));
      await page.goto(at(query));
      await expect.poll(() => names(page), { message: query }).toEqual(await names(plain));
      if (!query.includes('sort=name')) expect(await names(page), query).toEqual(expected);
      else expect((await names(page)).length, query).toBeGreaterThan(1);
      // The same by the form.
      await page.goto(at('q=zz'));
      for (const [name, value] of new URLSearchParams(query)) {
        if (name === 'q') await page.getByRole('searchbox').fill(value);
        else await page.locator(`select[name=${name}]`).selectOption(value);
      }
      await expect.poll(() => names(page), { message: query }).toEqual(await names(plain));
    }
    expect(asked.filter((name) => name.startsWith('/pagefind/'))).toEqual([]);
    await plain.goto(at('q=alpha&section=themes&state='));
    expect(await plain.locator('#search-status').textContent()).toMatch(/^Nothing fits what is chosen/);
    await plain.getByRole('link', { name: 'Search without it' }).click();
    expect(await names(plain)).toContain('Alpha Library');
    await page.goto(at('q=many&sort=newest'));
    await expect.poll(() => page.locator('#search-status').textContent()).toMatch(/^The first \d+ packages$/);
    await page.getByRole('searchbox').fill('x'.repeat(257));
    await expect.poll(() => page.locator('#search-status').textContent()).toBe('Type 256 characters at most.');
  });

  it('a person finds a tweak for iOS 16 rootless and opens it in the manager', async () => {
    const page = await open('/', phone, computing.address);
    await page.locator('#device-bar summary').click();
    await page.getByLabel('iOS', { exact: true }).fill('16');
    await page.getByLabel('Jailbreak').selectOption('rootless');
    await page.getByRole('button', { name: 'Show what runs' }).click();
    await page.getByRole('combobox').pressSequentially('icon theme', { delay: 30 });
    await page.getByRole('option', { name: 'SnowBoard' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=icon+theme');
    const row = page.locator('#results .row', { hasText: 'SnowBoard' });
    // What it states in its relations no record of the API tells.
    await expect.poll(() => row.locator('.verdict').textContent()).toBe('Runs here');
    await row.locator('.name').click();
    await page.waitForURL('**/package/com.alpha.snowboard/');
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Runs here');
    expect(await page.getByRole('link', { name: 'Open in Sileo' }).getAttribute('href')).toBe(
      'sileo://package/com.alpha.snowboard',
    );
  });
});

describe('a package', () => {
  it('shows versions, relations and links', async () => {
    const page = await open('/package/com.alpha.snowboard/');
    const rows = page.getByRole('region', { name: 'Latest versions' }).locator('tbody tr');
    expect(await rows.count()).toBe(3);
    expect(await page.locator('.relations a').allTextContents()).toEqual([
      'com.alpha.lib',
      'mobilesubstrate',
      'ellekit',
    ]);
    expect(await page.locator('.relations a').nth(1).getAttribute('href')).toBe('/package/ellekit/');
    expect(await page.getByRole('link', { name: 'Open in Sileo' }).getAttribute('href')).toBe(
      'sileo://package/com.alpha.snowboard',
    );
    expect(await page.getByRole('link', { name: 'JSON', exact: true }).getAttribute('href')).toBe(
      '/v2/jailbreak/package/com.alpha.snowboard.json',
    );
    expect(await page.locator('#description .prose a').getAttribute('href')).toBe('https://alpha.example/snow');
    expect(await page.locator('#description .prose li').count()).toBe(2);
    await page.getByText('2 older versions').click();
    expect(await page.getByRole('region', { name: 'Older versions' }).locator('tbody tr').count()).toBe(2);
  });

  it('answers in order: who, does it run here, install, what changed, what it needs, where else', async () => {
    const page = await open('/package/com.alpha.snowboard/', phone);
    const order =
      await page.evaluate(`['.title', '.trust', '.edition', '.built-for', '#install', '#description', '#changes', '#needs', '#elsewhere', '#versions']
      .map((selector) => [selector, document.querySelector(selector).getBoundingClientRect().top + scrollY])`);
    const tops = (order as [string, number][]).map(([, top]) => top);
    expect(tops).toEqual([...tops].sort((a, b) => a - b));
    expect(await page.locator('.edition .version').textContent()).toMatch(/1\.5\.1$/);
    expect(await page.locator('.built-for strong').allTextContents()).toEqual(['Rootless', 'RootHide']);
  });

  it('puts the manager that was last used first', async () => {
    const page = await open('/package/com.alpha.paid/');
    const managers = () => page.locator('[data-manager]').evaluateAll((all) => all.map((one) => one.dataset.manager));
    expect(await managers()).toEqual(['Sileo', 'Zebra']);
    // Chromium knows no such manager and stays where it is.
    await page.getByRole('link', { name: 'Open in Zebra' }).click();
    await page.goto(`${server.base}/package/com.alpha.snowboard/`);
    expect(await managers()).toEqual(['Zebra', 'Sileo']);
    expect(await page.locator('[data-manager].primary').textContent()).toMatch(/Zebra/);
  });

  it('warns above the buttons where its repository fails, and has one download for each architecture, and its digest', async () => {
    const page = await open('/package/com.alpha.snowboard/');
    expect(await page.locator('.downloads a').count()).toBe(2);
    const digests = page.locator('#digests [role=group]');
    expect(
      await digests.evaluateAll((all) => all.map((one) => [one.getAttribute('aria-label'), one.textContent])),
    ).toEqual([
      ['SHA-256 for iphoneos-arm64', 'a'.repeat(64)],
      ['SHA-256 for iphoneos-arm64e', 'b'.repeat(64)],
    ]);
    await page.goto(`${server.base}/package/com.beta.only/`);
    const [doubt, install] = [await page.locator('#doubt').boundingBox(), await page.locator('#install').boundingBox()];
    expect(doubt?.y ?? 0).toBeLessThan(install?.y ?? 0);
    expect(await page.locator('#doubt').textContent()).toMatch(/may not install.*Beta since 17 Nov 2026/s);
    expect(await page.locator('[data-manager]').count()).toBeGreaterThan(0);
    expect(await page.locator('[data-manager].primary').count()).toBe(0);
    await page.goto(`${server.base}/repository/beta/`);
    const [title, warning] = [page.locator('.package > .title'), page.locator('#doubt')];
    // Whatever else stands before it.
    for (const more of ['', '<p class="about">About</p>', '<p class="note">Another note</p>']) {
      await title.evaluate((element, markup) => element.insertAdjacentHTML('afterend', markup), more);
      const [above, add] = [await warning.boundingBox(), await page.locator('[data-managers]').boundingBox()];
      expect((above?.y ?? 9999) + (above?.height ?? 0), more).toBeLessThanOrEqual(add?.y ?? 0);
    }
    expect(await page.locator('[data-manager].primary').count()).toBe(0);
    await page.goto(`${server.base}/repository/alpha/`);
    expect(await page.locator('#doubt').count()).toBe(0);
    expect(await page.locator('[data-manager].primary').count()).toBe(1);
  });

  it('folds a long description after twelve lines, and unfolds it without JavaScript', async () => {
    const page = await open('/package/com.beta.only/', { ...phone, javaScriptEnabled: false });
    const height = async () => (await page.locator('.prose').boundingBox())?.height ?? 0;
    const folded = await height();
    expect(folded).toBeLessThan(320);
    await page.getByText('Read all of it').click();
    expect(await height()).toBeGreaterThan(folded * 1.5);
    expect(await page.getByText('Show less').isVisible()).toBe(true);
  });

  it('C11: draws its downloads of the last days where the function answers, says them in words, and shows nothing where it does not', async () => {
    const days = (page: Page) => page.locator('.download-days');
    const report = [{ package_id: 'com.alpha.snowboard', package_version: '1.5.1' }];
    const counted = await fetch(`${computing.address}/v2/jailbreak/download/ingest`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(report),
    });
    expect(await counted.json()).toMatchObject({ count: 1 });
    const page = await open('/package/com.alpha.snowboard/', {}, computing.address);
    await days(page).scrollIntoViewIfNeeded();
    const chart = days(page).getByRole('img');
    await chart.waitFor();
    expect(await chart.getAttribute('aria-label')).toMatch(/^1 download in the last 30 days, most on \d+ \w+: 1$/);
    expect((await chart.locator('path').getAttribute('d'))?.match(/M/g)).toHaveLength(30);
    expect(outside.filter((one) => !one.startsWith('image'))).toEqual([]);
    await closeContexts();
    const plain = await open('/package/com.alpha.snowboard/');
    const answer = plain.waitForResponse('**/v2/jailbreak/download/**');
    await days(plain).scrollIntoViewIfNeeded();
    expect((await answer).ok()).toBe(false);
    expect(await days(plain).innerHTML()).toBe('');
  });
  it('C11: shows what it may of its native depiction, and screenshots only at the press of the button that names their host', async () => {
    const page = await open('/package/com.alpha.snowboard/', { bypassCSP: true });
    const section = page.locator('#depiction');
    expect(await section.locator('.head').textContent()).toMatch(/More about it\s*as tellings\.example tells it/);
    expect(await section.locator('.prose').first().innerText()).toMatch(
      /^Themes for all of it, as said\..* no\s+one\s+two/,
    );
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('#depiction a')].map(({ href, rel }) => href + ' ' + rel)`,
    );
    const rel = 'nofollow ugc noopener noreferrer';
    expect(links).toEqual(
      ['https://shots.example/1.png', 'https://shots.example/2.png', 'https://a.example/x'].map(
        (url) => `${url} ${rel}`,
      ),
    );
    expect(await section.locator('img, script, iframe, [onerror], [style]').count()).toBe(0);
    expect(await section.locator('svg path').getAttribute('fill')).toBe('#1a7f64');
    const changes = section.locator('details');
    expect(await changes.getByText('Mended.').isVisible()).toBe(false);
    await changes.locator('summary').click();
    expect(await changes.getByText('Mended.').isVisible()).toBe(true);
    expect(await page.title()).not.toBe('owned');
    await page.waitForLoadState('networkidle');
    expect(outside.filter((one) => /shots|tellings/.test(one))).toEqual([]);
    const button = section.getByRole('button', { name: 'Show 2 screenshots from shots.example' });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect
      .poll(() => outside.filter((one) => one.includes('shots')))
      .toEqual(
        expect.arrayContaining([
          'image https://shots.example/1.png no referrer',
          'image https://shots.example/2.png no referrer',
        ]),
      );
    expect(await section.getByRole('img', { name: 'The home screen' }).getAttribute('loading')).toBe('lazy');
    expect(await button.count()).toBe(0);
    expect(await page.evaluate('document.activeElement.href')).toBe('https://shots.example/1.png');
    await closeContexts();
    const plain = await open('/package/com.alpha.snowboard/', { javaScriptEnabled: false });
    expect(await plain.locator('#depiction').getByRole('button').count()).toBe(0);
    expect(await plain.getByRole('link', { name: 'The home screen' }).isVisible()).toBe(true);
    expect(outside.filter((one) => /tellings/.test(one))).toEqual([]);
  });

  it('shows its versions on a phone without scrolling sideways, and a field in its header that answers as one types', async () => {
    const page = await open('/package/com.alpha.snowboard/', phone);
    const region = page.getByRole('region', { name: 'Latest versions' });
    expect(await region.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    const link = await region.locator('a[href$=".deb"]').first().boundingBox();
    expect((link?.x ?? 0) + (link?.width ?? 999)).toBeLessThanOrEqual(phone.viewport.width);
    expect(await region.getByRole('row').count()).toBe(4);

    const field = page.getByRole('combobox');
    const opener = page.getByRole('link', { name: 'Search', exact: true });
    expect(await field.isVisible()).toBe(false);
    await opener.tap();
    expect(await page.evaluate('document.activeElement.name')).toBe('q');
    await field.fill('beta');
    const option = page.locator('#suggestions [role=option]').first();
    await option.waitFor();
    const box = await option.boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect(box?.width).toBeGreaterThan(340);
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(phone.viewport.width);
    // Escape closes the list, then the field.
    await page.keyboard.press('Escape');
    expect([await option.isVisible(), await field.isVisible()]).toEqual([false, true]);
    await page.keyboard.press('Escape');
    expect(await field.isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Search');
    await page.keyboard.press('/');
    expect(await field.isVisible()).toBe(true);
    await field.press('End');
    await page.keyboard.type(' only');
    await page.locator('#suggestions .name', { hasText: 'Only in Beta' }).tap();
    await page.waitForURL('**/package/com.beta.only/');
  });

  it('shows its letters in the place of an icon that does not load', async () => {
    const page = await open('/package/com.alpha.snowboard/');
    const tile = page.locator('.monogram.large');
    await expect.poll(() => tile.locator('img').count()).toBe(0);
    expect(await tile.textContent()).toBe('SB');
    expect(outside).toContain('image https://icons.example/missing.png no referrer');
  });

  it('links neither a download that leaves the repository nor a home page that is no web page', async () => {
    const page = await open('/package/com.alpha.escaping/');
    expect(await page.getByRole('link', { name: /Download|deb|Home/ }).count()).toBe(0);
    expect(await page.content()).not.toContain('passwd');
  });

  it('C11: text full of markup is inert on every page that shows it', async () => {
    const list = await open('/search/?q=document');
    await list.waitForLoadState('networkidle');
    const page = await open('/section/tweaks/', { bypassCSP: true });
    const address = await page.getByText(hostile.name).first().getAttribute('href');
    for (const where of [address ?? '', '/repository/alpha/', '/section/tweaks/', '/status/', '/', '/search/?q=evil']) {
      await page.goto(server.base + where);
      await page.waitForLoadState('networkidle');
      expect(await page.title()).not.toBe('owned');
      const found = await page.evaluate(`({
        handlers: [...document.querySelectorAll('*')].flatMap((one) => [...one.attributes]).filter(({ name }) => /^on/.test(name)).length,
        scripts: [...document.scripts].filter((one) => /alert|owned/.test(one.textContent)).length,
        images: document.querySelectorAll('img[src="x"], svg[onload], i').length,
        links: [...document.links].filter((one) => !/^(https?|sileo|zbra|cydia|installer):/.test(one.protocol)).length,
      })`);
      expect(found).toEqual({ handlers: 0, scripts: 0, images: 0, links: 0 });
    }
    expect(outside.filter((one) => one.includes('evil'))).toEqual([]);
  });
});

describe('a repository', () => {
  it('copies its address', async () => {
    const page = await open('/repository/alpha/', { permissions: ['clipboard-read', 'clipboard-write'] });
    const button = page.getByRole('button', { name: 'Copy address' });
    await button.click();
    await expect.poll(() => button.textContent()).toBe('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('https://alpha.example/repo/');
  });

  it('offers the managers that can install something of it, or a line for sources.list where it is not flat', async () => {
    const flat = await open('/repository/alpha/');
    expect(await flat.getByRole('link', { name: /^Add to/ }).count()).toBe(2);
    await flat.goto(`${server.base}/repository/beta/`);
    expect(await flat.getByRole('link', { name: /^Add to/ }).count()).toBe(2);
    await flat.goto(`${server.base}/repository/alpha/`);
    expect(await flat.getByRole('heading', { name: 'A package has no file' }).isVisible()).toBe(true);
    await closeContexts();
    const suited = await open('/repository/suited/');
    expect(await suited.getByRole('link', { name: /^Add to/ }).count()).toBe(0);
    expect(await suited.getByText('deb https://suited.example/apt stable main').isVisible()).toBe(true);
  });

  it('C4: says what its last crawl failed with, and how old its data is', async () => {
    const page = await open('/repository/beta/');
    expect(await page.getByText('It answers too slowly.').textContent()).toMatch(/last confirmed on .*17/);
    const status = (await open('/status/')).getByText('It answers too slowly.');
    expect(await status.isVisible()).toBe(true);
    expect(await status.locator('time').getAttribute('datetime')).toBe('2026-11-17T10:00:00.000Z');
  });

  it('is found under a slug that it had before', async () => {
    const page = await open('/repository/oldalpha/');
    await page.waitForURL('**/repository/alpha/');
    expect(await page.locator('h1').textContent()).toBe('Alpha Repo');
  });

  it('says in its head and on the status page whether it is signed', async () => {
    const page = await open('/repository/alpha/');
    expect(await page.locator('.package .chips').getByText('Not signed').isVisible()).toBe(true);
    await page.goto(`${server.base}/status/`);
    const row = page.getByRole('row').filter({ hasText: 'Alpha Repo' });
    expect(await row.getByText('Not signed').getAttribute('title')).toBe('The repository is not signed.');
  });

  it('pages through a long list', async () => {
    const page = await open('/repository/many/');
    expect(await page.locator('.list .name').count()).toBe(100);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL('**/repository/many/2/');
    expect(await page.locator('.list .name').first().textContent()).toBe('Many 100');
  });

  it('is found by its name, its host and its slug in the list, as one types', async () => {
    const page = await open('/repository/');
    const listed = page.locator('#repositories > li:visible .name');
    for (const [typed, found] of [
      ['PACK many', ['Many packages']],
      ['beta.exam', ['Beta']],
      ['suited', ['Suited']],
      ['repository', []],
      [' ', ['Alpha Repo', 'Suited', 'Beta', 'Many packages']],
    ] as const) {
      await page.getByRole('searchbox', { name: 'Name' }).fill(typed);
      expect(await listed.allTextContents(), typed).toEqual(found);
    }
    await page.getByRole('searchbox', { name: 'Name' }).fill('beta');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).search).toBe('');
    expect(await listed.allTextContents()).toEqual(['Beta']);
    // No line stands above the first that is left, nor is one missing beside it.
    const style = (name: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('#repositories > li:not([hidden])')).${name}`);
    expect(await style('boxShadow')).not.toBe('none');
    await page.setViewportSize(phone.viewport);
    expect(await style('borderTopWidth')).toBe('0px');
  });

  it('is found by ranking and health in the list', async () => {
    const page = await open('/repository/');
    await page.getByLabel('Ranking').selectOption('1');
    expect(await page.locator('#repositories > li:visible .name').allTextContents()).toEqual(['Alpha Repo']);
    await page.getByLabel('Ranking').selectOption('');
    await page.getByLabel('Health').selectOption('poor');
    expect(await page.locator('#repositories > li:visible .name').allTextContents()).toEqual(['Beta']);
    expect(await page.locator('#repository-count').textContent()).toBe('1 of 4 repositories');
  });
});

describe('everywhere', () => {
  it('the time of the last crawl stays on one line', async () => {
    const page = await open('/', phone);
    const figure = page.locator('.figures dd').filter({ has: page.locator('time') });
    expect(await figure.textContent()).toMatch(/ago|in \d/);
    expect(await figure.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    expect(await figure.locator('time').evaluate((one) => one.getClientRects().length)).toBe(1);
  });

  it('switches the theme and remembers it', async () => {
    const page = await open('/', { colorScheme: 'light' });
    const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const light = await ground();
    await page.getByRole('button', { name: 'Switch theme' }).click();
    const dark = await ground();
    expect(dark).not.toBe(light);
    await page.goto(`${server.base}/about/`);
    expect(await ground()).toBe(dark);
  });

  it('leads to all pages from a menu on a phone, without JavaScript too', async () => {
    const page = await open('/about/', { ...phone, javaScriptEnabled: false });
    const header = await page.locator('.top').boundingBox();
    expect(header?.height).toBeLessThanOrEqual(56);
    await page.locator('.menu > summary').click();
    const menu = page.getByRole('navigation', { name: 'Menu' });
    expect(await menu.getByRole('link').allTextContents()).toEqual([
      'Repositories',
      'Sections',
      'New',
      'Status',
      'API',
    ]);
    await menu.getByRole('link', { name: 'New' }).click();
    await page.waitForURL('**/new/');
    expect(await page.locator('h1').textContent()).toBe('New and updated');
  });

  it('closes the menu by Escape, which leaves the keyboard on it, and by a press elsewhere', async () => {
    const page = await open('/about/', phone);
    const summary = page.locator('.menu > summary');
    const menu = page.getByRole('navigation', { name: 'Menu' });
    await summary.click();
    await menu.getByRole('link', { name: 'New' }).focus();
    await page.keyboard.press('Escape');
    expect(await menu.isVisible()).toBe(false);
    expect(await summary.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Menu');
    await summary.click();
    await page.mouse.click(20, 600);
    expect(await menu.isVisible()).toBe(false);
  });

  it('the first stop of the keyboard leads to the content', async () => {
    const page = await open('/about/');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  it('no link is broken', () => {
    // The documents of the API are written by the other half of the build.
    expect(brokenLinks(out, (address) => address.startsWith('/v2/'))).toEqual([]);
  });
});
