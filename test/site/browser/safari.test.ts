import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { holdRequests } from '../../support/hold-requests.ts';
import { phone, useSiteInBrowser } from './site-in-browser.ts';

// What the Safari of phones with a jailbreak does or lacks, done to the browser of these tests.

const site = useSiteInBrowser();
const names = (page: Page) => page.locator('#results .name:visible').allTextContents();

/** What came to JavaScript and its pages after iOS 14. */
const later = `
  for (const kind of [Array, String, Object.getPrototypeOf(Int8Array)]) delete kind.prototype.at;
  for (const name of ['findLast', 'findLastIndex', 'toSorted', 'toReversed', 'toSpliced', 'with']) delete Array.prototype[name];
  for (const name of ['hasOwn', 'groupBy']) delete Object[name];
  delete Map.groupBy;
  delete Promise.withResolvers;
  delete URL.canParse;
  delete window.structuredClone;
  delete HTMLFormElement.prototype.requestSubmit;
  delete AbortSignal.timeout;
  delete AbortSignal.any;
  delete crypto.randomUUID;`;

describe('the Safari of iOS 14', () => {
  const open = async (address: string, base: string) => {
    const page = await site.openAnother('/about/', phone, base);
    await page.addInitScript(later);
    await page.goto(base + address);
    return page;
  };

  it('answers below the field and on the page of the search, says what runs on a device, and narrows lists', async () => {
    const page = await open('/about/', site.computing.address);
    for (const base of [site.computing.address, site.files.base]) {
      await page.goto(`${base}/?ios=16.7&build=rootless`);
      const field = page.getByRole('combobox');
      await field.pressSequentially('alpha', { delay: 30 });
      await page.locator('.suggestions .name', { hasText: 'Alpha Library' }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/search/?q=alpha');
      await expect.poll(() => names(page)).toContain('Alpha Library');
      await page.getByRole('searchbox').fill('snow');
      await expect.poll(() => names(page)).toContain('SnowBoard');
      await page.locator('#results .verdict').first().waitFor();
      await page.goto(`${base}/repository/`);
      await page.locator('#repository-filters [name=name]').fill('alpha');
      await expect.poll(() => page.locator('#repositories .name:visible').count()).toBe(1);
    }
  });

  it('takes a device that is sent before the script of its form is there', async () => {
    const page = await open('/section/themes/', site.files.base);
    const letGo = await holdRequests(page, '**/device-form*.js');
    await page.locator('#device-bar > summary').click();
    await page.locator('#device input').fill('16.7');
    await page.locator('#device button[type=submit]').click();
    letGo();
    await expect.poll(() => new URL(page.url()).search).toBe('?ios=16.7&build=rootless');
  });
});

/** Takes the gaps away that Safari before iOS 14.5 knows in grids alone, and what it reads in their place. Tells what touches. */
const touching = `(() => {
  const places = [...document.querySelectorAll('*')].filter((one) => {
    const { display, columnGap } = getComputedStyle(one);
    return /flex$/.test(display) && parseFloat(columnGap) > 0 && one.checkVisibility();
  });
  for (const one of places) one.style.setProperty('gap', '0', 'important');
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const instead = rules.filter((rule) => rule instanceof CSSSupportsRule && /^not \\(inset:/.test(rule.conditionText));
  const style = new CSSStyleSheet();
  style.replaceSync(instead.flatMap((rule) => [...rule.cssRules]).map((rule) => rule.cssText).join(''));
  document.adoptedStyleSheets = [style];
  return places.flatMap((one) => {
    const boxes = [...one.children].filter((child) => child.checkVisibility() && getComputedStyle(child).position !== 'absolute')
      .map((child) => child.getBoundingClientRect());
    const near = boxes.some((one, index) => boxes.slice(index + 1).some((other) => {
      const isBeside = one.top < other.bottom && other.top < one.bottom;
      return isBeside && Math.max(other.left - one.right, one.left - other.right) < 3;
    }));
    return near || document.documentElement.scrollWidth > document.documentElement.clientWidth ? [one.outerHTML.slice(0, 200)] : [];
  });
})()`;

describe('the Safari of iOS 14.0 to 14.4, which knows no gaps in a line', () => {
  it('lets no words and buttons touch', async () => {
    const addresses = [
      '/',
      '/search/?q=snow',
      '/package/com.alpha.snowboard/',
      '/repository/alpha/',
      '/repository/',
      '/status/',
    ];
    const page = await site.open('/about/', phone);
    for (const address of [...addresses, '/section/', '/section/themes/', '/author/ada-example/', '/popular/']) {
      await page.goto(`${site.files.base}${address}${address.includes('?') ? '&' : '?'}ios=16.7&build=rootless`);
      await page.locator('html[data-device]').waitFor();
      await page.waitForLoadState('networkidle');
      await page.locator('#device-bar > summary').click();
      expect(await page.evaluate(touching), address).toEqual([]);
    }
  });
});

describe('a browser that cannot be asked for what an element holds (:has)', () => {
  /** Takes away what it does not read. */
  const unread = `for (const sheet of document.styleSheets) {
    for (const [index, rule] of [...sheet.cssRules].entries()) {
      // Emptied and not deleted: the places of the others stay.
      if (!/:has\\(/.test(rule.selectorText ?? rule.conditionText ?? '')) continue;
      if (rule instanceof CSSSupportsRule) while (rule.cssRules.length > 0) rule.deleteRule(0);
      else rule.style.cssText = '';
    }
  }`;

  it('explains the notches of what was found, and rings the row that the keyboard has come to', async () => {
    const page = await site.openAnother('/search/?q=snow', phone, site.files.base);
    await page.locator('#results .name').first().waitFor();
    await page.evaluate(unread);
    expect(await page.locator('.answers > .notch-key').isVisible()).toBe(true);
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const ring =
      "(({ outlineStyle, outlineWidth }) => outlineStyle + ' ' + outlineWidth)(getComputedStyle(document.activeElement))";
    expect(await page.locator('#results .name:focus').count()).toBe(1);
    expect(await page.evaluate(ring)).toBe('solid 3px');
  });

  it('and in one that can, nothing is explained where nothing was found', async () => {
    const page = await site.open('/search/?q=nothingofthekind', phone);
    await page.locator('#nothing').waitFor();
    expect(await page.locator('.answers > .notch-key').isVisible()).toBe(false);
  });
});

describe('a page that Safari kept while another was shown', () => {
  /** As Safari leaves a page and comes back to it: fields that complete nothing are reset, and it stands at its top. */
  const leaveAndComeBack = `(() => {
    dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
    for (const field of document.querySelectorAll('input[autocomplete=off]')) field.value = field.defaultValue;
    scrollTo({ top: 0, behavior: 'instant' });
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  })()`;

  it('has in its fields what was typed there, and begins where a result was followed', async () => {
    const page = await site.open('/search/', phone);
    await page.getByRole('searchbox').fill('many');
    await expect.poll(() => page.locator('#results .name').count()).toBe(20);
    await page.evaluate("document.addEventListener('click', (event) => event.preventDefault())");
    const row = page.locator('#results .name').nth(15);
    await row.click();
    const there = await page.evaluate<number>('scrollY');
    expect(there).toBeGreaterThan(500);
    await page.evaluate(leaveAndComeBack);
    expect(await page.getByRole('searchbox').inputValue()).toBe('many');
    expect(await page.evaluate('scrollY')).toBe(there);
    expect(await row.evaluate((one) => one.matches(':focus'))).toBe(true);
  });
});

describe('a browser that lets no WebAssembly run, as the Safari of iOS 15 on these pages, or any in Lockdown Mode', () => {
  it('searches the files', async () => {
    const page = await site.openAnother('/about/', phone, site.files.base);
    await page.addInitScript('delete globalThis.WebAssembly;');
    await page.goto(`${site.files.base}/search/`);
    await page.getByRole('searchbox').fill('snow');
    await expect.poll(() => names(page)).toContain('SnowBoard');
    await page.goto(`${site.files.base}/`);
    await page.getByRole('combobox').fill('snowb');
    await page.locator('.suggestions .name', { hasText: 'SnowBoard' }).waitFor();
  });
});

describe('a phone that lies on its side', () => {
  it('shows the field of the first page without a move, and words clear of its camera on the ground of the page', async () => {
    const page = await site.openAnother('/', { ...phone, viewport: { width: 667, height: 331 } }, site.files.base);
    const field = await page.getByRole('combobox').boundingBox();
    expect((field?.y ?? 999) + (field?.height ?? 0)).toBeLessThan(331);
    const beside = () => page.evaluate("document.querySelector('h1').getBoundingClientRect().left");
    expect(await beside()).toBe(16);
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setSafeAreaInsetsOverride', { insets: { left: 47, right: 47, bottom: 21 } });
    await expect.poll(beside).toBe(47);
    const viewport = await page.locator('[name=viewport]').getAttribute('content');
    expect(viewport).toContain('viewport-fit=cover');
  });
});

describe('a browser too old for the scripts', () => {
  it('gets the page of one that runs none, and searches by the function', async () => {
    const page = await site.openAnother('/about/', phone, site.computing.address);
    await page.addInitScript('delete Element.prototype.replaceChildren;');
    // It would read none of them.
    await page.route('**/assets/*.js', (route) => route.abort());
    await page.goto(`${site.computing.address}/package/com.alpha.snowboard/?ios=16.7&build=rootless`);
    expect(await page.locator('.needs-script:visible, .copy button:visible').count()).toBe(0);
    expect(await page.evaluate('JSON.stringify(document.documentElement.dataset)')).toBe('{}');
    await page.goto(`${site.computing.address}/search/`);
    expect(await page.locator('#start a').first().isVisible()).toBe(true);
    await page.getByRole('searchbox').fill('snow');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=snow**');
    expect(await names(page)).toContain('SnowBoard');
    expect(await page.locator('#start').isVisible()).toBe(false);
    // Where files alone are, nothing is found by its words; every package is in one of the sections.
    await page.goto(`${site.files.base}/search/?q=snow`);
    expect(await page.locator('#start a').first().isVisible()).toBe(true);
    const still = await site.open('/search/', { ...phone, javaScriptEnabled: false });
    const [note, start] = await Promise.all([
      still.locator('noscript .note').boundingBox(),
      still.locator('#start').boundingBox(),
    ]);
    expect((start?.y ?? 0) - (note?.y ?? 0) - (note?.height ?? 0)).toBeGreaterThan(16);
  });
});
