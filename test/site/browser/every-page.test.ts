import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { brokenLinks } from '../../support/links.ts';
import { lastBuild } from '../fixture.ts';
import { phone, useSiteInBrowser } from './site-in-browser.ts';

const site = useSiteInBrowser();

describe('everywhere', () => {
  it('the time of the last crawl stays on one line', async () => {
    const page = await site.open('/', phone);
    const figure = page.locator('.figures dd').filter({ has: page.locator('time') });
    expect(await figure.textContent()).toMatch(/ago|just now|2026/);
    expect(await figure.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    expect(await figure.locator('time').evaluate((one) => one.getClientRects().length)).toBe(1);
  });

  it('C11: the last crawl has been, whatever the clock of the visitor says', async () => {
    // A profile of its own: its clock stays as it is set.
    const page = await site.open('/', { ...phone, locale: 'en-GB' });
    const words = async (hours: number) => {
      await page.clock.setFixedTime(Date.parse(lastBuild.builtAt) + hours * 3_600_000);
      await page.reload();
      return page.locator('.figures time').textContent();
    };
    expect([await words(3), await words(-1), await words(-50)]).toEqual(['3 hr. ago', 'just now', '20 Nov 2026']);
  });

  it('switches the theme and remembers it', async () => {
    const page = await site.open('/', { colorScheme: 'light' });
    const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    // What a phone draws above the page: the first that its media do not rule out (HTML, "theme-color").
    const above = () =>
      page.evaluate<string[]>(
        "[...document.querySelectorAll('[name=theme-color]')].find(({ media }) => matchMedia(media).matches).content",
      );
    const band = () =>
      page.evaluate(`(() => {
        const [, ...parts] = /(\\d+), (\\d+), (\\d+)/.exec(getComputedStyle(document.querySelector('.top')).backgroundColor);
        return '#' + parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('');
      })()`);
    const light = await ground();
    expect(await above()).toBe(await band());
    await page.getByRole('button', { name: 'Switch theme' }).click();
    const dark = await ground();
    expect(dark).not.toBe(light);
    const dim = await band();
    expect(await above()).toBe(dim);
    await page.goto(`${site.files.base}/about/`);
    expect(await ground()).toBe(dark);
    expect([await band(), await above()]).toEqual([dim, dim]);
  });

  it('prints dark on white whatever the theme, the whole description, and nothing that is only there to be pressed', async () => {
    const page = await site.openAnother('/package/com.alpha.snowboard/', { colorScheme: 'light' }, site.files.base);
    await page.getByRole('button', { name: 'Switch theme' }).click();
    await page.emulateMedia({ media: 'print' });
    const colours = (of: string) =>
      page.evaluate<string[]>(
        `(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.querySelector('${of}')))`,
      );
    const ink = await colours('h1');
    expect(ink).toEqual(['rgba(0, 0, 0, 0)', 'rgb(26, 29, 25)']);
    expect(await colours('.brand')).toEqual(ink);
    expect((await colours('.top'))[0]).toBe('rgba(0, 0, 0, 0)');
    const pressed = page.locator('nav:visible, form:visible, button:visible, .managers:visible');
    expect(await pressed.evaluateAll((all) => all.map((one) => one.outerHTML))).toEqual([]);
    await page.goto(`${site.files.base}/package/com.beta.only/`);
    await page.emulateMedia({ media: 'print' });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.evaluate('delete document.documentElement.dataset.theme');
    expect([await colours('h1'), await colours('.brand')]).toEqual([ink, ink]);
    const cut = await page.locator('#description .prose').evaluate((one) => one.scrollHeight - one.clientHeight);
    expect(cut).toBeLessThanOrEqual(0);
  });

  it('leads to all pages from a menu on a phone, without JavaScript too', async () => {
    const page = await site.open('/about/', { ...phone, javaScriptEnabled: false });
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
    // Whoever presses beside a word presses its line.
    expect((await menu.getByRole('link', { name: 'New' }).boundingBox())?.width).toBeGreaterThan(300);
    await menu.getByRole('link', { name: 'New' }).click();
    await page.waitForURL('**/new/');
    expect(await page.locator('h1').textContent()).toBe('New and updated');
  });

  it('closes the menu by Escape, which leaves the keyboard on it, and by a press elsewhere', async () => {
    const page = await site.open('/about/', phone);
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

  it('keeps the question for the device clear of the edges of its bar, however many lines it takes', async () => {
    const page = await site.open('/', { ...phone, bypassCSP: true });
    for (const size of ['100%', '200%']) {
      await page.addStyleTag({ content: `html { font-size: ${size} }` });
      const above = `(() => {
        const words = document.querySelector('[data-device-name]').getBoundingClientRect();
        return words.top - document.querySelector('#device-bar').getBoundingClientRect().top;
      })()`;
      expect(await page.evaluate(above), size).toBeGreaterThan(4);
    }
  });

  it('keeps the marks whose colour is all there is of them where visitors have colours of their own', async () => {
    const grounds = (page: Page, marks: string) =>
      page.evaluate<string[]>(
        `Array.from(document.querySelectorAll('${marks}'), (one) => getComputedStyle(one).backgroundColor)`,
      );
    const page = await site.open('/about/', phone);
    for (const [address, marks] of [
      ['/section/themes/', '.notch'],
      ['/status/', '.legend .key'],
    ] as const) {
      await page.goto(site.files.base + address);
      const usual = await grounds(page, marks);
      expect(usual.length, address).toBeGreaterThan(1);
      await page.emulateMedia({ forcedColors: 'active' });
      expect(await grounds(page, marks), address).toEqual(usual);
      await page.emulateMedia({ forcedColors: 'none' });
    }
  });

  it('the first stop of the keyboard leads to the content', async () => {
    const page = await site.open('/about/');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  it('a name that is read from the right begins beside its icon, as any other does', async () => {
    const page = await site.open('/repository/');
    const places = await page.evaluate(`[...document.querySelectorAll('.row .name, .row .line')].map((one) => {
      one.textContent = 'متجر عمر';
      const letters = document.createRange();
      letters.selectNodeContents(one);
      return Math.round(letters.getBoundingClientRect().left - one.getBoundingClientRect().left);
    })`);
    expect(new Set(places as number[])).toEqual(new Set([0]));
  });

  it('what is said after a name that is read from the right stands after it, as beside any other', async () => {
    const page = await site.open('/author/ada-example/');
    for (const [address, place, said] of [
      ['/author/ada-example/', '.author-places .chip', '[0-9]+$'],
      ['/author/', '.row .line', 'and [0-9]+ more$'],
    ]) {
      await page.goto(site.files.base + address);
      const apart = await page.evaluate(`(() => {
        const said = new RegExp('${said}');
        const one = [...document.querySelectorAll('${place}')].find(({ innerText }) => said.test(innerText));
        one.innerHTML = one.innerHTML.replace('Alpha Repo', 'متجر عمر');
        const placeOf = (words) => {
          for (const all = document.createTreeWalker(one, NodeFilter.SHOW_TEXT); all.nextNode(); ) {
            const { index, 0: found } = words.exec(all.currentNode.data.trimEnd()) ?? {};
            if (found === undefined) continue;
            const letters = document.createRange();
            letters.setStart(all.currentNode, index);
            letters.setEnd(all.currentNode, index + found.length);
            return letters.getBoundingClientRect();
          }
        };
        return placeOf(said).left - placeOf(/متجر عمر/).right;
      })()`);
      expect(apart, address).toBeGreaterThan(0);
    }
  });

  it('no link is broken', () => {
    // The documents of the API are written by the other half of the build.
    expect(brokenLinks(site.out, (address) => address.startsWith('/v2/'))).toEqual([]);
  });
});
