import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { sectionKinds } from '../../../src/contract/sections.ts';
import { sectionTitle } from '../../../src/site/overview.ts';
import { type Heard, phone, useSiteInBrowser, type Visit } from './site-in-browser.ts';
import { splitWords } from './split-words.ts';

const site = useSiteInBrowser();

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
    const opened = known ?? (await site.visit(address, options, heard));
    const { page } = opened;
    if (known) {
      known.heard = heard;
      // As it was when it was new.
      await page.emulateMedia({ colorScheme: options.colorScheme });
      await page.setViewportSize(options.viewport);
      await page.goto(site.files.base + address);
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
    const page = await site.open(address, { ...options, bypassCSP: true });
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
    const page = await site.open('/api/', options);
    const list = page.locator('#packageSearch .parameters');
    const [all, meaning] = await Promise.all([list.boundingBox(), list.locator('dd').first().boundingBox()]);
    expect(meaning?.width).toBeGreaterThan(part * (all?.width ?? 9999));
  }
});

it('the fields of an answer are cards on a phone, with what each means in them and no word outside of the view', async () => {
  const page = await site.open('/api/', phone);
  await page.locator('#packageSearch details > summary').first().click();
  const row = page.locator('#packageSearch tbody > tr').first();
  const field = await row.locator('td').first().boundingBox();
  const meaning = await row.locator('td').last().boundingBox();
  expect(meaning?.y).toBeGreaterThan(field?.y ?? 9999);
  const outside = `[...document.querySelectorAll('#packageSearch tbody td')].filter((cell) =>
    cell.getBoundingClientRect().right > innerWidth || cell.scrollWidth > cell.clientWidth).length`;
  expect(await page.evaluate(outside)).toBe(0);
});

it('the title of every section has room on the smallest screen with letters twice as large', async () => {
  const titles = JSON.stringify(sectionKinds.map(sectionTitle));
  const overflowing = `${titles}.filter((title) => {
    for (const name of document.querySelectorAll('.tile > span, .titled h1, .drawer a > span')) name.firstChild.data = title;
    return document.documentElement.scrollWidth > innerWidth;
  })`;
  for (const address of ['/section/', '/section/themes/', '/']) {
    const page = await site.open(address, { ...onPhone, viewport: { ...phone.viewport, width: 320 } });
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    expect(await page.evaluate(overflowing), address).toEqual([]);
  }
});

it('how many filters are chosen has room beside the words of their button on the smallest screen with large letters', async () => {
  const page = await site.open('/search/?q=snow&price=Paid', {
    ...onPhone,
    viewport: { ...phone.viewport, width: 320 },
  });
  await page.addStyleTag({ content: 'html { font-size: 200% }' });
  await page.getByText('1 chosen').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  expect(await page.evaluate(splitWords)).not.toContain('Narrow');
});

it('a list by downloads gives each number whole, and the name of the repository what is left', async () => {
  for (const options of [phone, { viewport: { width: 1440, height: 900 } }]) {
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
