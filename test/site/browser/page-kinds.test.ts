import { globSync } from 'node:fs';
import path from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { sectionKinds } from '../../../src/contract/sections.ts';
import { sectionTitle } from '../../../src/site/overview.ts';
import { Accessibility } from './accessibility.ts';
import { type Heard, phone, useSiteInBrowser, type Visit } from './site-in-browser.ts';
import { splitWords } from './split-words.ts';

const site = useSiteInBrowser();
const accessibility = new Accessibility();

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
  'feeds and badges': '/api/feeds/',
  changes: '/changes/',
  'changes for operators': '/changes/operators/',
  privacy: '/privacy/',
  safety: '/safety/',
  divergence: '/divergence/',
  about: '/about/',
  'not found': '/no/such/page',
};
// Links, buttons and fields below 24 px (WCAG 2.2, 2.5.8) that are not words of a sentence, and names that have no room
// for a word. What is hidden from view shows itself, larger, when the keyboard comes to it.
const smallTargets = `[...document.querySelectorAll('a[href], button, input, select, summary, h1, td a')].flatMap((one) => {
  const { width, height } = one.getBoundingClientRect();
  const around = one.closest('p, dd, li, td, h3');
  const inSentence = getComputedStyle(one).display === 'inline' && around && around.textContent.trim() !== one.textContent.trim();
  if (!one.checkVisibility() || inSentence || width <= 1 || (width >= 24 && height >= 24)) return [];
  return [one.outerHTML.slice(0, 120) + ' is ' + width + ' by ' + height];
})`;
// What is wider than its place: the page than its view, what is cut away at an edge without a mark that says so, and a
// table that has to be pushed aside. The last two make no page wider, so each is asked for by itself. A phone shows all of
// a page that is too wide, and its innerWidth grows.
const overflowing = `[...document.querySelectorAll('html, body *')].filter((one) => {
  const { overflowX, textOverflow } = getComputedStyle(one);
  const isCut = (overflowX === 'hidden' || overflowX === 'clip') && textOverflow === 'clip' && one.clientWidth > 1;
  const holds = one === document.documentElement || isCut || one.matches('.scroll:has(> table)');
  return holds && one.checkVisibility() && one.scrollWidth > one.clientWidth;
}).map((one) => one.cloneNode().outerHTML + ' by ' + (one.scrollWidth - one.clientWidth))`;

// Fields that ask for more than there is room for, beside the button that empties them.
const cutPlaceholders = `[...document.querySelectorAll('input[placeholder]')].flatMap((field) => {
  const { paddingLeft, paddingRight, fontSize } = getComputedStyle(field);
  const words = document.createElement('canvas').getContext('2d');
  words.font = getComputedStyle(field, '::placeholder').font;
  const { width } = words.measureText(field.placeholder);
  const room = field.clientWidth - [paddingLeft, paddingRight, fontSize].reduce((all, one) => all + parseFloat(one), 0);
  return field.checkVisibility() && width > room ? [field.placeholder + ' is ' + width + ' in ' + room] : [];
})`;

// What fields ask for, which axe does not look at, where it has less contrast than words need (WCAG 2.2, 1.4.3).
const faintPlaceholders = `[...document.querySelectorAll('input[placeholder]')].flatMap((field) => {
  const light = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map((one) => one / 255)
      .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const words = getComputedStyle(field, '::placeholder');
  const both = [light(words.color), light(getComputedStyle(field).backgroundColor)];
  const contrast = Math.max(...both) / Math.min(...both);
  return contrast < 4.5 || words.opacity !== '1' ? [field.placeholder + ' ' + contrast] : [];
})`;

it('looks at every kind of page there is', () => {
  const pages = path.join(import.meta.dirname, '..', '..', '..', 'src', 'pages');
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

/** Gives what strangers name a word of a hundred letters, one after another, and tells what then leaves its page or card, or has a table cut. */
const longNames = `(() => {
  const word = 'Pneumonoultramicroscopic_silicovolcanoconiosis_01234567890'.repeat(2).slice(0, 100);
  const inTables = '.stated :is(bdi, q), .place a';
  const named = 'h1, h2 bdi, [dir], .version, .mono, .fields td, .facts a, .crumbs a, .by a, .copies .chip, .operation a, ' + inTables;
  const found = [];
  for (const element of document.querySelectorAll('#content :is(' + named + ')')) {
    const text = [...element.childNodes].find((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!text || !element.checkVisibility()) continue;
    const { data } = text;
    const isCut = () => element.matches(inTables) && element.closest('.scroll').scrollWidth > element.closest('.scroll').clientWidth;
    const wasCut = isCut();
    text.data = word;
    const card = element.closest('.card, .list, .tabbed, .note');
    const leaves = card && !element.closest('.scroll') && getComputedStyle(element).overflowX === 'visible'
      && element.getBoundingClientRect().right > card.getBoundingClientRect().right;
    if (leaves || (!wasCut && isCut()) || document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push(element.outerHTML);
    text.data = data;
  }
  return found;
})()`;

/** The kinds that show names, versions and addresses of strangers in every place that has them. */
const named: ReadonlySet<string> = new Set(['package', 'repository', 'author', 'doctor of a repository', 'new', 'api']);

/** A page that is made as large as a desktop or a phone. */
class Sized {
  readonly page: Page;
  readonly #visit: Visit;
  readonly #devTools: CDPSession;

  private constructor(visit: Visit, devTools: CDPSession) {
    this.page = visit.page;
    this.#visit = visit;
    this.#devTools = devTools;
  }

  static async open(address: string, heard: Heard): Promise<Sized> {
    const visit = await site.visit(address, { colorScheme: 'light' }, heard);
    return new Sized(visit, await visit.context.newCDPSession(visit.page));
  }

  set heard(heard: Heard) {
    this.#visit.heard = heard;
  }

  /** As Playwright does for a device that `isMobile`, without a page of its own for it. */
  #resize(width: number, height: number, mobile: boolean): Promise<unknown> {
    const size = { width, height, mobile, deviceScaleFactor: 1 };
    return this.#devTools.send('Emulation.setDeviceMetricsOverride', size);
  }

  toDesktop = (width: number): Promise<unknown> => this.#resize(width, 900, false);
  toPhone = (width: number = phone.viewport.width): Promise<unknown> =>
    this.#resize(width, phone.viewport.height, true);

  enlarge = (size: string): Promise<unknown> =>
    this.page.evaluate(`document.documentElement.style.fontSize = '${size}'`);

  /**
   * Expects that none of these finds anything with letters of each of these sizes, of which the last stays. All is asked
   * in one step: between two the browser draws the page, which nobody looks at and is most of what they take.
   */
  async expectNothing(by: Readonly<Record<string, string>>, sizes: readonly string[], where: string): Promise<void> {
    const asked = Object.entries(by).map(([name, script]) => `${name}: ${script}`);
    const found = await this.page.evaluate(`${JSON.stringify(sizes)}.map((size) => {
      document.documentElement.style.fontSize = size;
      return { size, ${asked.join()} };
    })`);
    const nothing = Object.fromEntries(Object.keys(by).map((name) => [name, []]));
    expect(found, where).toEqual(sizes.map((size) => ({ size, ...nothing })));
  }

  /** Opens an address, as it is when the page is new, and waits until it has come to rest. */
  async load(address: string): Promise<void> {
    await this.page.emulateMedia({ colorScheme: 'light' });
    await this.page.goto(site.files.base + address);
    await this.rest();
  }

  async rest(): Promise<void> {
    const idle = () => this.page.waitForLoadState('networkidle', { timeout: 20_000 });
    // A request that ended with the page before is at times never told to have ended: then one waits without end.
    await idle().catch(async (error: Error) => {
      if (error.name !== 'TimeoutError') throw error;
      await this.page.reload();
      await idle();
    });
  }
}

const fitting = { overflowing, cutPlaceholders, splitWords };
const holdingNames = (kind: string) => (named.has(kind) ? { longNames } : {});

const lookAtDesktop = async (sized: Sized, kind: string): Promise<void> => {
  const { page, toDesktop } = sized;
  // The first two are a tablet, and a phone that lies on its side.
  for (const width of [768, 844, 1024, 1440]) {
    await toDesktop(width);
    const by = width < 1024 ? fitting : { ...fitting, ...holdingNames(kind) };
    await sized.expectNothing(by, ['200%', '100%'], `${width} px`);
  }
  expect(await page.evaluate(smallTargets)).toEqual([]);
  expect((await page.locator('main > .wrap').boundingBox())?.width).toBeGreaterThan(1200);
};

const lookAtPhone = async (sized: Sized, kind: string): Promise<void> => {
  await sized.toPhone(320);
  await sized.expectNothing({ overflowing, cutPlaceholders }, ['200%'], 'on the smallest');
  await sized.toPhone();
  await sized.expectNothing({ ...fitting, smallTargets, ...holdingNames(kind) }, ['200%', '100%'], 'on a phone');
};

/** On the desktop that was looked at last: each size is drawn. */
const askAxeOnDesktop = async ({ page }: Sized): Promise<void> => {
  await accessibility.expectAll(page);
  const ofTheme = () =>
    page.evaluate<{ ground: string; faint: string[] }>(
      `({ ground: getComputedStyle(document.documentElement).backgroundColor, faint: ${faintPlaceholders} })`,
    );
  const light = await ofTheme();
  await page.emulateMedia({ colorScheme: 'dark' });
  // The other theme has the same elements in other colours.
  await accessibility.expectNew(page);
  const dark = await ofTheme();
  expect(dark.ground).not.toBe(light.ground);
  expect([light.faint, dark.faint]).toEqual([[], []]);
  await page.emulateMedia({ colorScheme: 'light' });
};

const askAxeOnPhone = async ({ page, toPhone, enlarge }: Sized): Promise<void> => {
  await toPhone();
  await accessibility.expectNew(page);
  // What stands on other ground on a phone does so in both themes. Larger letters change where things lie and whether
  // they scroll, and neither names nor colours: those that need less contrast, as large ones do, are twice as large then.
  await page.emulateMedia({ colorScheme: 'dark' });
  await enlarge('200%');
  const large = { options: { boldTextPt: 28, largeTextPt: 36 } };
  await accessibility.expectAll(page, {
    runOnly: ['cat.color', 'cat.sensory-and-visual-cues', 'cat.keyboard'],
    checks: { 'color-contrast': large, 'color-contrast-enhanced': large },
  });
};

/** The pages that have looked, and may look at another kind: to start one for each takes as long as to look. */
const waiting: Sized[] = [];

// Some at once: most of the time of a page goes by waiting for it to come to rest.
describe.concurrent.each(Object.entries(kinds))('page kind: %s', (kind, address) => {
  it('fits a desktop, a phone and letters twice as large: nothing overflows, no word splits, any name is held, targets are large, axe finds nothing in either theme, what fields ask for has contrast, and only images come from third parties', async () => {
    const heard: Heard = { outside: [], mistakes: [] };
    const sized = waiting.pop() ?? (await Sized.open('/404', heard));
    sized.heard = heard;
    await sized.toDesktop(1440);
    await sized.load(address);
    // Its script decides once by the width whether the choices are open.
    const isLoadedForEach = address.startsWith('/search/');
    if (!isLoadedForEach) await lookAtPhone(sized, kind);
    await lookAtDesktop(sized, kind);
    await accessibility.begin(sized.page);
    await askAxeOnDesktop(sized);
    if (isLoadedForEach) {
      await sized.toPhone();
      await sized.load(address);
      await lookAtPhone(sized, kind);
      await accessibility.load(sized.page);
    }
    await askAxeOnPhone(sized);
    waiting.push(sized);
    expect(heard.mistakes).toEqual([]);
    for (const request of heard.outside) expect(request).toMatch(/^image .* no referrer$/);
  });
});

/** The narrowest phone, into which letters twice as large can be put. */
const smallest = { ...phone, viewport: { ...phone.viewport, width: 320 }, bypassCSP: true } as const;
const wide = { viewport: { width: 1440, height: 900 } } as const;

it('the reference gives meanings the width of a phone, and of a wide page all but that of a name', async () => {
  for (const [options, part] of [
    [phone, 0.7],
    [wide, 0.75],
  ] as const) {
    const page = await site.open('/api/', options);
    const list = page.locator('#packageSearch .parameters');
    const [all, meaning] = await Promise.all([list.boundingBox(), list.locator('dd').first().boundingBox()]);
    expect(meaning?.width).toBeGreaterThan(part * (all?.width ?? 9999));
  }
});

it('the reference leads from its top to each of its parts, and to the page of feeds and badges', async () => {
  const page = await site.open('/api/', phone);
  const parts = await page.locator('#content section > h2').allTextContents();
  expect(parts).toContain('Repositories');
  const led = page.getByRole('navigation', { name: 'Parts' });
  expect(await led.getByRole('link').allTextContents()).toEqual([...parts, 'Feeds and badges']);
  await led.getByRole('link', { name: 'Payment gateway' }).click();
  const top = async () => Math.abs((await page.locator('#of-gateway').boundingBox())?.y ?? 9999);
  await expect.poll(top).toBeLessThan(100);
  await led.getByRole('link', { name: 'Feeds and badges' }).click();
  await page.waitForURL('**/api/feeds/');
  expect(await page.locator('#content section > h2').allTextContents()).toEqual(['Feeds', 'Badges']);
});

it('the fields of an answer are cards on a phone, with what each means in them and no word outside of the view', async () => {
  const page = await site.open('/api/', phone);
  await page.locator('#packageSearch details > summary').first().click();
  const row = page.locator('#packageSearch tbody > tr').first();
  const field = await row.locator('td').first().boundingBox();
  const meaning = await row.locator('td').last().boundingBox();
  expect(meaning?.y).toBeGreaterThan(field?.y ?? 9999);
  const outside = `[...document.querySelectorAll('#packageSearch tbody td')].filter((cell) =>
    cell.getBoundingClientRect().right > document.documentElement.clientWidth || cell.scrollWidth > cell.clientWidth).length`;
  expect(await page.evaluate(outside)).toBe(0);
});

it('the title of every section has room on the smallest screen with letters twice as large', async () => {
  const titles = JSON.stringify(sectionKinds.map(sectionTitle));
  const overflowing = `${titles}.filter((title) => {
    for (const name of document.querySelectorAll('.tile > span, .titled h1, .drawer a > span')) name.firstChild.data = title;
    return document.documentElement.scrollWidth > document.documentElement.clientWidth;
  })`;
  const page = await site.open('/section/', smallest);
  for (const address of ['/section/', '/section/themes/', '/']) {
    if (address !== '/section/') await page.goto(site.files.base + address);
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    expect(await page.evaluate(overflowing), address).toEqual([]);
  }
});

it('how many filters are chosen has room beside the words of their button on the smallest screen with large letters', async () => {
  const page = await site.open('/search/?q=snow&price=Paid', smallest);
  await page.addStyleTag({ content: 'html { font-size: 200% }' });
  await page.getByText('1 chosen').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  expect(await page.evaluate(splitWords)).not.toContain('Narrow');
});

it('the switch of the theme stays beside the field of the header, also where large letters take two lines', async () => {
  const page = await site.open('/about/', wide);
  for (const width of [1440, 1024, 844]) {
    await page.setViewportSize({ width, height: 900 });
    for (const size of ['100%', '200%']) {
      await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
      const [field, tools] = await Promise.all(
        ['.top .find input', '.top [data-theme-switch]'].map((one) => page.locator(one).boundingBox()),
      );
      const where = `${width} px, ${size}`;
      if (field === null || tools === null || field === undefined || tools === undefined) throw new Error(where);
      expect(Math.abs(field.y + field.height / 2 - tools.y - tools.height / 2), where).toBeLessThan(4);
      expect(tools.x - field.x - field.width, where).toBeGreaterThan(0);
      expect(tools.x - field.x - field.width, where).toBeLessThan(40);
    }
  }
});

it('the longest word of a version and of a finding has room on a phone with letters twice as large', async () => {
  const large = { content: 'html { font-size: 200% }' };
  const versions = await site.open('/package/com.alpha.ezsecretsettings/', smallest);
  await versions.addStyleTag(large);
  await versions.evaluate("document.querySelector('td.version .chip.new').textContent = 'Release candidate'");
  expect(await versions.evaluate(overflowing)).toEqual([]);
  expect(await versions.evaluate(splitWords)).toEqual([]);
  const findings = await site.open('/repository/alpha/', { ...phone, bypassCSP: true });
  await findings.addStyleTag(large);
  await findings.evaluate(
    "document.querySelector('.said h3').textContent = 'Release has Architecture instead of Architectures'",
  );
  expect(await findings.evaluate(splitWords)).toEqual([]);
});

it('the sign that empties the field of the header is as light as what is typed there, in both themes', async () => {
  const page = await site.open('/about/', wide);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await page.evaluate("getComputedStyle(document.querySelector('.top .find input')).colorScheme")).toBe(
      'dark',
    );
  }
});

it('a name in a script from right to left begins beside its tile', async () => {
  for (const options of [phone, wide]) {
    const page = await site.open('/about/', options);
    for (const address of ['/package/com.alpha.snowboard/', '/repository/alpha/']) {
      await page.goto(site.files.base + address);
      const apart = `(() => {
        const name = document.querySelector('.package h1');
        name.textContent = 'برنامج';
        const letters = document.createRange();
        letters.selectNodeContents(name);
        return letters.getBoundingClientRect().left - document.querySelector('.package > .monogram').getBoundingClientRect().right;
      })()`;
      expect(await page.evaluate(apart), address).toBeLessThan(40);
    }
  }
});

it('one row alone takes the whole width of its list', async () => {
  const page = await site.open('/popular/', wide);
  const list = page.locator('.list.broad');
  await page.evaluate("document.querySelectorAll('.list.broad > li ~ li').forEach((one) => one.remove())");
  const [all, row] = await Promise.all([list.boundingBox(), list.locator('li').boundingBox()]);
  expect(row?.width).toBeGreaterThan(0.99 * (all?.width ?? 9999));
});

it('what most people press on a phone is as high as a finger needs', async () => {
  const page = await site.open('/about/', phone);
  for (const address of ['/', '/search/?q=snow', '/package/com.alpha.snowboard/', '/repository/alpha/']) {
    await page.goto(site.files.base + address);
    await page.locator('.row').first().waitFor();
    const low = `[...document.querySelectorAll('.device > summary, .downloads a, .button, .icon-button, .row, .find input, select, .facets > summary')]
      .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44).map((one) => one.outerHTML.slice(0, 120))`;
    expect(await page.evaluate(low), address).toEqual([]);
  }
});

it('what stands beside each other on a wide page stands on one line', async () => {
  const middleOf = `(one) => { const { top, height } = one.getBoundingClientRect(); return top + height / 2; }`;
  const page = await site.open('/search/?q=snow', wide);
  await page.locator('#results .row').first().waitFor();
  const apart = `(${middleOf})(document.querySelector('#search-status')) - (${middleOf})(document.querySelector('.facets > summary'))`;
  expect(Math.abs(await page.evaluate<number>(apart))).toBeLessThan(3);
  await page.goto(`${site.files.base}/package/com.alpha.snowboard/`);
  const heights = await page.evaluate<number[]>(
    "[...document.querySelectorAll('.relations li')].map((one) => one.getBoundingClientRect().height)",
  );
  expect(heights.length).toBeGreaterThan(2);
  expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(0.5);
});

it('the head of a package and of a repository has what a visitor does beside what is told, above the second column', async () => {
  const page = await site.open('/about/', wide);
  const boxOf = async (selector: string) => {
    const box = await page.locator(selector).first().boundingBox();
    if (box === null) throw new Error(selector);
    return { ...box, right: box.x + box.width, bottom: box.y + box.height };
  };
  for (const address of ['/package/com.alpha.snowboard/', '/repository/alpha/']) {
    await page.goto(site.files.base + address);
    const [card, tile, title, actions, manager, aside] = await Promise.all(
      ['.package', '.package > .monogram', '.package > .title', '.package > .actions', '[data-manager]', 'aside'].map(
        boxOf,
      ),
    );
    if (!card || !tile || !title || !actions || !manager || !aside) throw new Error(address);
    expect(Math.abs(actions.y - tile.y), address).toBeLessThan(2);
    expect(Math.abs(actions.x - aside.x), address).toBeLessThan(4);
    expect(card.right - manager.right, address).toBeLessThan(card.width * 0.2);
    // What is told ends where what a visitor does begins, and neither makes the card higher than both need.
    const told = address.startsWith('/package/') ? await boxOf('.package > .edition') : title;
    expect(actions.x - told.right, address).toBeLessThan(60);
    expect(actions.bottom, address).toBeLessThan(card.bottom);
    const last = address.startsWith('/package/') ? '.package > .built-for' : '.package > .chips';
    expect(
      card.bottom - Math.max((await boxOf(last)).bottom, (await boxOf('.actions > :last-child')).bottom),
    ).toBeLessThan(30);
  }
});

it('a wide page has no empty side: what would stand below stands there', async () => {
  const page = await site.open('/status/', wide);
  const boxOf = async (selector: string) => {
    const box = await page.locator(selector).first().boundingBox();
    if (box === null) throw new Error(selector);
    return box;
  };
  const whole = await boxOf('#attention');
  const bars = await boxOf('.columns.even .bars.wide');
  expect(bars.width).toBeGreaterThan(0.45 * whole.width);
  // Without a growth their meaning has its place.
  await page.evaluate("document.querySelector('.columns.even > section ~ section')?.remove()");
  const legend = await boxOf('.legend');
  expect(legend.x).toBeGreaterThan(bars.x + bars.width);
  expect(Math.abs(legend.y - bars.y)).toBeLessThan(8);
  for (const [address, left, right] of [
    ['/api/', '.reference > div', '.reference > nav'],
    ['/api/feeds/', '.reference > div', '.reference > nav'],
    ['/about/', '.told > h2', '.told > h2 + p'],
    ['/privacy/', '.told > h2', '.told > h2 + p'],
    ['/changes/', '.told > h2', '.told > h2 + *'],
    ['/safety/', '.opening .lead', '.opening h2'],
    ['/divergence/', '.halves > .lead', '.halves > .lead + p'],
  ] as const) {
    await page.goto(site.files.base + address);
    const [one, other] = [await boxOf(left), await boxOf(right)];
    expect(other.x, address).toBeGreaterThanOrEqual(one.x + one.width);
    expect(Math.abs(other.y - one.y), address).toBeLessThan(12);
    expect(other.x + other.width, address).toBeGreaterThan(one.x + 0.8 * whole.width);
  }
});

it('the parts of the reference stay in view beside its operations on a wide page', async () => {
  const page = await site.open('/api/', wide);
  const parts = page.getByRole('navigation', { name: 'Parts' });
  await parts.getByRole('link', { name: 'Payment gateway' }).click();
  await expect.poll(async () => (await page.locator('#of-gateway').boundingBox())?.y ?? 9999).toBeLessThan(100);
  const [there, operation] = [await parts.boundingBox(), await page.locator('#authenticate').boundingBox()];
  expect(there?.y).toBeGreaterThanOrEqual(0);
  expect((there?.y ?? 9999) + (there?.height ?? 9999)).toBeLessThan(900);
  expect(there?.x).toBeGreaterThan((operation?.x ?? 9999) + (operation?.width ?? 9999));
});

it('a heading of the changes is larger than those below it', async () => {
  const page = await site.open('/changes/');
  const sizes = await page.evaluate<number[]>(
    `['h1', 'h2', 'h3', 'h4'].map((name) => parseFloat(getComputedStyle(document.querySelector('#content ' + name)).fontSize))`,
  );
  expect(new Set(sizes).size).toBe(4);
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
});

it('a card that ends with what can be opened leaves no more room below it than above', async () => {
  const page = await site.open('/status/', phone);
  const below = `[...document.querySelectorAll('.note > details:last-child > summary')].map((summary) =>
    summary.closest('.note').getBoundingClientRect().bottom - summary.getBoundingClientRect().bottom)`;
  const rooms = await page.evaluate<number[]>(below);
  expect(rooms.length).toBeGreaterThan(1);
  // The line has room of its own for a finger.
  expect(Math.max(...rooms)).toBeLessThan(8);
});

it('the name of a fact stands on one line with what it is, be that a link or words', async () => {
  for (const [address, options] of [
    ['/package/com.alpha.snowboard/', phone],
    ['/repository/alpha/', wide],
  ] as const) {
    const page = await site.open(address, options);
    const apart = `[...document.querySelectorAll('.facts dt')].flatMap((name) => {
      const topOf = (element) => {
        const letters = document.createRange();
        letters.selectNodeContents(element);
        return letters.getClientRects()[0].top;
      };
      const fact = name.nextElementSibling;
      const link = fact.querySelector('a');
      const far = link ? Math.abs(topOf(name) - topOf(link)) : 0;
      return far > 1 ? [name.textContent + ' ' + far] : [];
    })`;
    expect(await page.evaluate(apart), address).toEqual([]);
  }
});

it('a link in a table stands on the line of the words beside it', async () => {
  const apart = `[...document.querySelectorAll('.versions td > a')].map((link) => {
    // The lower edge of an empty box on a line is the baseline.
    const baselineFrom = (put) => {
      const mark = document.createElement('span');
      mark.style.display = 'inline-block';
      put(mark);
      const { bottom } = mark.getBoundingClientRect();
      mark.remove();
      return bottom;
    };
    return Math.abs(baselineFrom((mark) => link.prepend(mark)) - baselineFrom((mark) => link.before(mark)));
  })`;
  for (const address of ['/status/', '/package/com.alpha.snowboard/'])
    for (const options of [phone, wide]) {
      const page = await site.open(address, options);
      const distances = await page.evaluate<number[]>(apart);
      expect(distances.length, address).toBeGreaterThan(2);
      expect(Math.max(...distances), address).toBeLessThan(1);
    }
});

it('a link within the sentence of a finding breaks where its words do', async () => {
  const page = await site.open('/doctor/alpha/', phone);
  const display = `(() => {
    const sentence = document.querySelector('.findings p');
    sentence.innerHTML = 'Tell <a href="mailto:who@index.example">the operator of the index</a>; otherwise write it again.';
    return getComputedStyle(sentence.firstElementChild).display;
  })()`;
  expect(await page.evaluate(display)).toBe('inline');
});

it('a list by downloads gives each number whole, and the name of the repository what is left', async () => {
  for (const options of [phone, wide]) {
    const page = await site.open('/popular/', options);
    await page.evaluate(
      `for (const place of document.querySelectorAll('.row .place')) place.textContent += ' and more'.repeat(9)`,
    );
    expect(await page.locator('.row .ordering').count()).toBe(3);
    const cut =
      "[...document.querySelectorAll('.row .ordering')].filter((one) => one.scrollWidth > one.clientWidth).length";
    expect(await page.evaluate(cut)).toBe(0);
  }
});

it('a chip in the table of repositories begins where the heading of its column does, and apart from a figure', async () => {
  const page = await site.open('/status/', wide);
  const places = await page.evaluate(`[2, 3].flatMap((column) =>
    [...document.querySelectorAll('.status td:nth-child(' + column + ') > .chip')].map((chip) => {
      const heading = document.createRange();
      heading.selectNodeContents(document.querySelector('.status th:nth-child(' + column + ')'));
      return Math.round(chip.getBoundingClientRect().left - heading.getBoundingClientRect().left);
    }))`);
  expect(new Set(places as number[])).toEqual(new Set([0]));
  const margin = "getComputedStyle(document.querySelector('.status .number .chip')).marginLeft";
  expect(await page.evaluate(margin)).toBe('8px');
});

it('gives the words about what needs attention the width of a phone, beside the tile', async () => {
  const page = await site.open('/status/', phone);
  const reason = await page.locator('#attention .reason').first().boundingBox();
  expect(reason?.width).toBeGreaterThan(phone.viewport.width * 0.6);
  // One may be in trouble and held back as well: each word is read whole.
  await page.evaluate(
    `for (const end of document.querySelectorAll('#attention .end')) end.append(end.children[0].cloneNode(true))`,
  );
  const cut =
    "[...document.querySelectorAll('#attention .end')].filter((one) => one.scrollWidth > one.clientWidth).length";
  expect(await page.evaluate(cut)).toBe(0);
});

it('the list of unsafe addresses is narrowed as one types, to what covers a whole address too', async () => {
  const page = await site.open('/safety/', phone);
  const listed = page.locator('.hosts > li:visible');
  const typed = page.getByRole('searchbox', { name: 'Address' });
  const count = page.locator('#host-count');
  expect(await count.textContent()).toBe('6 addresses');
  // The script writes what was there: a line that appears late would move the list.
  const sent = await (await page.request.get(`${site.files.base}/safety/`)).text();
  expect(sent).toMatch(/id="host-count"[^>]*>6 addresses</);
  for (const [words, found] of [
    ['BAD.exam', ['bad.example/repo', 'zebra.bad.example']],
    ['https://zebra.bad.example/', ['zebra.bad.example']],
    ['https://cydia.bad.example/repo/debs', ['bad.example/repo']],
    ['https://me@zebra.bad.example:8080/x?y#z', ['zebra.bad.example']],
    ['deb https://zebra.bad.example./ ./', ['zebra.bad.example']],
    ['cydia://url/https://cydia.example/api/share#?source=https://bad.example/repo/', ['bad.example/repo']],
    ['https://bad.example/repository', []],
    ['https://notbad.example/repo', []],
  ] as const) {
    await typed.fill(words);
    expect(
      (await listed.allTextContents()).map((one) => one.trim()),
      words,
    ).toEqual(found);
    expect(await page.locator('#unsafe .card:visible').count(), words).toBe(found.length);
    const says =
      found.length > 0 ? `${found.length} of 6 addresses` : /^No listed address matches\. .* not necessarily safe/;
    expect(await count.textContent(), words).toMatch(says);
  }
  await page.keyboard.press('Enter');
  expect(new URL(page.url()).search).toBe('');
  const still = await site.open('/safety/', { ...phone, javaScriptEnabled: false });
  expect(await still.locator('.hosts > li:visible').count()).toBe(6);
  expect(await still.locator('#unsafe :is(form, [role=status])').locator('visible=true').count()).toBe(0);
});
