import { describe, expect, it } from 'vitest';
import { holdRequests } from '../../support/hold-requests.ts';
import { phone, useSiteInBrowser } from './site-in-browser.ts';

const site = useSiteInBrowser();

describe('what is shown below the field', () => {
  it('answers below the field of the landing page, by keyboard alone', async () => {
    site.files.requests.length = 0;
    const page = await site.open('/');
    expect(site.files.requests.some((name) => name.startsWith('/search-index/'))).toBe(false);
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
    site.files.requests.length = 0;
    const page = await site.open('/package/com.alpha.snowboard/');
    await page.waitForLoadState('networkidle');
    expect(site.files.requests.filter((name) => name.startsWith('/search-index/'))).toEqual([]);

    // Then it finds out who answers while the script loads, and the entry of the index comes at once.
    const asked = (part: string) => site.files.requests.filter((name) => name.includes(part)).length;
    const letScriptGo = await holdRequests(page, /\/assets\/suggest\./);
    const letSearchGo = await holdRequests(page, /\/assets\/search-files\./);
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
    await expect.poll(() => asked('search-index/index.json')).toBe(1);
    letSearchGo();
    await page.getByRole('combobox').focus();
    await page.keyboard.type('snow');
    await page.getByRole('option', { name: 'SnowBoard' }).waitFor();
    expect(await page.evaluate('globalThis.begun'), 'begun once').toBe(1);
    expect(asked('search-index/index.json')).toBe(1);
    const parts = site.files.requests.filter((name) => /search-index\/(?:words|rows)/.test(name));
    expect(new Set(parts).size, 'each once').toBe(parts.length);
    expect(site.files.requests.filter((name) => /^\/v2\/(?!.*\/download\/)/.test(name))).toEqual(['/v2/livez']);
  });

  it('shows on files alone what two letters begin before it can search, and of that what has the letters since', async () => {
    const page = await site.open('/about/');
    const letGo = await holdRequests(page, '**/search-index/index.json');
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
    // More than are shown at once.
    await page.getByRole('combobox').fill('many 025');
    await expect.poll(() => names.allTextContents()).toEqual(['Many 025']);
    letGo();
    await expect.poll(() => status.textContent()).toBe('1 found; Enter shows all');
    // A list that holds no more than one, and letters that have none.
    await page.getByRole('combobox').fill('sn');
    await expect.poll(() => names.allTextContents()).toEqual(['SnowBoard', 'All results']);
    expect(await status.textContent()).toBe('1 suggestion; Enter shows all results');
    await page.getByRole('combobox').fill('qx');
    await expect.poll(() => status.textContent()).toBe('Nothing found');
    // A host that answers with a page for what is not there.
    await page.route('**/search-index/beginnings/*', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<p>Here' }),
    );
    await page.getByRole('combobox').fill('el');
    await expect.poll(() => names.allTextContents()).toContain('ElleKit');
    expect(await status.textContent()).toMatch(/found; Enter shows all$/);
    await page.getByRole('combobox').fill('snwoboard');
    await expect.poll(() => names.allTextContents()).toEqual(['SnowBoard']);
    expect(await status.textContent()).toBe('Did you mean SnowBoard? 1 found; Enter shows all');
  });

  it('asks with the next letter again for what two letters begin, where the connection was away', async () => {
    const page = await site.open('/about/');
    await holdRequests(page, '**/search-index/index.json');
    const lists = '**/search-index/beginnings/*';
    await page.route(lists, (route) => route.abort());
    const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/beginnings/6d-61.json'));
    await page.getByRole('combobox').fill('ma');
    await failed;
    await page.unroute(lists);
    await page.getByRole('combobox').fill('man');
    await expect.poll(() => page.locator('#suggestions [role=option] .name').allTextContents()).toContain('Many 000');
  });

  it('what two letters begin gives way to what was asked since, and makes ready what the next letter needs', async () => {
    const page = await site.open('/about/');
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: answered, resolve: tell } = Promise.withResolvers<void>();
    await page.route('**/search-index/beginnings/6d-61.json', async (route) => {
      await held;
      await route.continue().catch(() => {});
      tell();
    });
    const names = page.locator('#suggestions [role=option] .name');
    // On a busy machine what asks is loaded after both were typed, and then never asks for the first.
    const asked = page.waitForRequest('**/search-index/beginnings/6d-61.json');
    await page.getByRole('combobox').fill('ma');
    await asked;
    site.files.requests.length = 0;
    await page.getByRole('combobox').fill('sn');
    await expect.poll(() => names.allTextContents()).toEqual(['SnowBoard', 'All results']);
    await expect.poll(() => site.files.requests.some((name) => name.startsWith('/search-index/words/'))).toBe(true);
    letGo();
    await answered;
    await page.waitForLoadState('networkidle');
    expect(await names.allTextContents()).toEqual(['SnowBoard', 'All results']);
  });

  it('shows what two letters begin before the index answers, then the answer, and asks for each list once', async () => {
    const page = await site.openPatient('/about/');
    const lists: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/beginnings/')) lists.push(new URL(request.url()).pathname);
    });
    const letGo = await holdRequests(page, '**/package/search?*');
    const names = page.locator('#suggestions [role=option] .name');
    const field = page.getByRole('combobox');
    await field.fill('ma');
    await expect.poll(() => names.allTextContents()).toEqual([0, 1, 2, 3, 4, 5, 6].map((number) => `Many 00${number}`));
    await field.fill('many 02');
    await expect.poll(() => names.allTextContents()).toEqual([0, 1, 2, 3, 4, 5, 6].map((number) => `Many 02${number}`));
    // Nothing has these letters, and what is known stays until that is sure.
    await field.fill('many --');
    await field.fill('--');
    expect(await names.count()).toBe(7);
    await field.fill('many 025');
    letGo();
    await expect.poll(() => page.getByRole('status').textContent()).toMatch(/found; Enter shows all$/);
    expect((await names.allTextContents())[0]).toBe('Many 025');
    expect(lists).toEqual(['/search-index/beginnings/6d-61.json']);
  });

  it.each(['files', 'function'])(
    'shows on %s at the second letter what it read at the first, whatever else is still to come',
    async (source) => {
      const page = await (source === 'files' ? site.open('/about/') : site.openPatient('/about/'));
      const letListGo = await holdRequests(page, '**/search-index/beginnings/6d-61.json');
      const letGo = await holdRequests(page, '**/package/search?*');
      const names = page.locator('#suggestions [role=option] .name');
      const field = page.getByRole('combobox');
      const firsts: string[] = [];
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (/\/beginnings\/[^-]+$/.test(pathname)) firsts.push(pathname);
      });
      const read = page.waitForResponse('**/search-index/beginnings/6d.json');
      await field.fill('m');
      await (await read).finished();
      await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))');
      await field.fill('ma');
      expect(await names.allTextContents()).toEqual([0, 1, 2, 3, 4, 5, 6].map((number) => `Many 00${number}`));
      // The whole list knows more.
      await field.fill('many 025');
      letListGo();
      await expect.poll(() => names.allTextContents()).toEqual(['Many 025']);
      letGo();
      await expect.poll(() => page.getByRole('status').textContent()).toMatch(/found; Enter shows all$/);
      // Each first letter is asked for once, and no other's rows are taken for its own.
      await field.fill('m');
      await field.fill('ma');
      expect((await names.allTextContents()).slice(0, 2)).toEqual(['Many 000', 'Many 001']);
      const letSecondGo = await holdRequests(page, '**/search-index/beginnings/*');
      const letSearchGo = await holdRequests(page, '**/package/search?*');
      await field.fill('');
      await field.fill('z');
      await field.fill('za');
      expect(await page.locator('#suggestions').isHidden()).toBe(true);
      expect(firsts).toEqual(['/search-index/beginnings/6d.json', '/search-index/beginnings/7a.json']);
      letSecondGo();
      letSearchGo();
    },
  );

  it('keeps the answer of the index where what two letters begin comes later', async () => {
    const page = await site.openPatient('/about/');
    const letGo = await holdRequests(page, '**/search-index/beginnings/*');
    const read = page.waitForResponse('**/search-index/beginnings/*');
    const names = page.locator('#suggestions [role=option] .name');
    await page.getByRole('combobox').fill('ma');
    await expect.poll(() => names.count()).toBe(8);
    const answer = await names.allTextContents();
    letGo();
    await (await read).finished();
    // It is read in tasks of the page, before this one.
    await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))');
    expect(await names.allTextContents()).toEqual(answer);
    expect(answer.at(-1)).toMatch(/results$/);
  });

  it('stays closed after Escape and after the field is left, whatever is still to come', async () => {
    const page = await site.openPatient('/about/');
    const letGo = await holdRequests(page, '**/package/search?*');
    const answered = page.waitForResponse('**/package/search?*');
    const list = page.locator('#suggestions');
    const field = page.getByRole('combobox');
    await field.fill('ma');
    await list.waitFor();
    await page.keyboard.press('Escape');
    letGo();
    await (await answered).finished();
    await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))');
    expect(await list.isHidden()).toBe(true);
    await page.keyboard.press('ArrowDown');
    await list.waitFor();
    // The next is asked for, and the field left.
    const letNextGo = await holdRequests(page, '**/package/search?*');
    const next = page.waitForResponse('**/package/search?*');
    await field.fill('many');
    await field.blur();
    expect(await list.isHidden()).toBe(true);
    letNextGo();
    await (await next).finished();
    await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))');
    expect(await list.isHidden()).toBe(true);
    // So does what two letters begin.
    await holdRequests(page, '**/package/search?*');
    const letListGo = await holdRequests(page, '**/search-index/beginnings/*');
    const begun = page.waitForResponse('**/search-index/beginnings/65-6c.json');
    await field.fill('el');
    await field.blur();
    letListGo();
    await (await begun).finished();
    await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))');
    expect(await list.isHidden()).toBe(true);
  });

  it('shows of what it found before what has the letters since, until the answer is there, and keeps the row walked to', async () => {
    const page = await site.openPatient('/about/');
    const option = page.locator('#suggestions [role=option]');
    await page.getByRole('combobox').fill('al');
    await expect.poll(() => option.count()).toBeGreaterThan(1);
    const some = await option.count();
    const letGo = await holdRequests(page, '**/package/search?*');
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

  it('rings the row that the arrow keys have come to, as any row that the keyboard is on', async () => {
    const page = await site.open('/');
    await page.getByRole('combobox').fill('alpha');
    await expect.poll(() => page.locator('#suggestions [role=option]').count()).toBeGreaterThan(1);
    await page.keyboard.press('ArrowDown');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const rings = (await page.evaluate(
        `[...document.querySelectorAll('#suggestions .row')].map((row) => getComputedStyle(row))
          .map(({ outlineStyle, outlineWidth }) => outlineStyle === 'none' ? 'none' : outlineWidth + ' ' + outlineStyle)`,
      )) as string[];
      expect(rings.length).toBeGreaterThan(1);
      expect(rings).toEqual(rings.map((_, place) => (place === 0 ? '3px solid' : 'none')));
    }
  });

  it('leaves the keys of an input method to it while it composes a word', async () => {
    const page = await site.open('/about/', phone);
    await page.getByRole('link', { name: 'Search' }).click();
    const field = page.getByRole('combobox');
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Input.imeSetComposition', { text: 'alpha', selectionStart: 5, selectionEnd: 5 });
    await page.locator('#suggestions [role=option]').first().waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await field.getAttribute('aria-activedescendant')).toBeNull();
    await page.keyboard.press('Escape');
    expect(await field.isVisible()).toBe(true);
    await devTools.send('Input.insertText', { text: 'alpha' });
    await expect.poll(() => page.locator('#suggestions [role=option]').count()).toBeGreaterThan(1);
    await page.keyboard.press('ArrowDown');
    expect(await field.getAttribute('aria-activedescendant')).toBe('suggestion-0');
    // Safari sends the key that ends the word after it, with nothing but this code.
    await field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true });
    expect(new URL(page.url()).pathname).toBe('/about/');
    await devTools.detach();
  });

  it('Escape closes the list, Enter leads to all results', async () => {
    const page = await site.open('/');
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
    const page = await site.open('/');
    await page.getByRole('combobox').fill('many');
    const last = page.getByRole('option', { name: 'All 240 results' });
    await last.waitFor();
    expect(await page.locator('#suggestions [role=option]').count()).toBe(8);
    await page.keyboard.press('ArrowUp');
    expect(await last.getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=many');
    await page.goBack();
    await page.getByRole('combobox').fill('many &#');
    await last.waitFor();
    expect(await last.locator('a').getAttribute('href')).toBe('/search/?q=many%20%26%23');
  });

  it('the list leaves nothing of the line below the field in sight', async () => {
    const page = await site.open('/', phone);
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

  it('says of a repository there what the page of the search does, as that it is in trouble', async () => {
    const page = await site.openPatient('/about/');
    await page.getByRole('combobox').fill('only in beta');
    await expect.poll(() => page.getByRole('status').textContent()).toMatch(/found/);
    const from = page.locator('#suggestions [data-package="com.beta.only"] .from');
    expect(await from.locator('> *').allTextContents()).toEqual(['In trouble', 'Beta']);
  });

  it('says there what to do where its script could not be loaded, which browsers do not try again', async () => {
    const page = await site.open('/about/');
    await page.route(/\/assets\/suggest\./, (route) => route.abort());
    await page.getByRole('combobox').fill('ellekit');
    await expect.poll(() => page.locator('.top .status').textContent()).toBe('Press Enter to search.');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=ellekit');
  });

  it('answers below the field in the header of every page', async () => {
    const page = await site.open('/about/');
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
