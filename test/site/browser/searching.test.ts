import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { holdRequests } from '../../support/hold-requests.ts';
import { phone, useSiteInBrowser } from './site-in-browser.ts';
import { splitWords } from './split-words.ts';

const site = useSiteInBrowser();

describe('searching', () => {
  const names = (page: Page) => page.locator('#results .name').allTextContents();

  it('finds a package by the beginning of a word, a word within a name, an identifier, a name in one word, and its author', async () => {
    // One by its address, as it is shared; the others as one types.
    const page = await site.open(`/search/?q=${encodeURIComponent('sileo://package/com.alpha.lib')}`);
    await expect.poll(() => names(page)).toContain('Alpha Library');
    for (const [question, name] of [
      ['sno', 'SnowBoard'],
      ['board', 'SnowBoard'],
      ['fomo', 'NoFomoFix'],
      ['nofomofix', 'NoFomoFix'],
      ['com.alpha.lib', 'Alpha Library'],
      ['alphalibrary', 'Alpha Library'],
      ['ada exa', 'SnowBoard'],
      ['com.alpha.lib_1.0_iphoneos-arm.deb', 'Alpha Library'],
    ] as const) {
      // Of another question: what is found next is of this one.
      await page.getByRole('searchbox').fill('many 001');
      await expect.poll(async () => (await names(page))[0], { message: question }).toBe('Many 001');
      await page.getByRole('searchbox').fill(question);
      await expect.poll(() => names(page), { message: question }).toContain(name);
    }
  });

  it('says that an answer is awaited where it does not come at once', async () => {
    const page = await site.open('/search/');
    const [field, status, list] = [
      page.getByRole('searchbox'),
      page.locator('#search-status'),
      page.locator('#results'),
    ];
    const letGo = await holdRequests(page, '**/search-index/**');
    await field.fill('snowboard');
    await expect.poll(() => status.textContent()).toBe('Searching…');
    expect(await list.getAttribute('aria-busy')).toBe('true');
    // What is too short to be asked for awaits nothing, whatever was awaited before.
    await field.fill('s');
    await expect.poll(() => status.textContent()).toBe('Type one more character.');
    expect(await list.getAttribute('aria-busy')).toBe(null);
    await field.fill('snowboard');
    await expect.poll(() => status.textContent()).toBe('Searching…');
    letGo();
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    await expect.poll(() => status.textContent()).toBe('1 package');
    await expect.poll(() => list.getAttribute('aria-busy')).toBe(null);

    await page.goto(`${site.files.base}/`);
    const letLandingGo = await holdRequests(page, '**/search-index/**');
    await page.getByRole('combobox').fill('snowboard');
    const below = page.locator('.find.big .status');
    await expect.poll(() => below.textContent()).toBe('Searching…');
    letLandingGo();
    await page.getByRole('option', { name: 'SnowBoard' }).waitFor();
    await expect.poll(() => below.textContent()).toMatch(/found|suggestion/);

    // In the header of other pages too, where the line lies over the page, until the list does.
    await page.goto(`${site.files.base}/about/`);
    for (const about of [page, await site.open('/about/', phone)]) {
      const letAboutGo = await holdRequests(about, '**/search-index/**');
      if (about !== page) await about.locator('.to-search').click();
      const typed = about.getByRole('combobox');
      const said = about.locator('.top .status');
      const height = async () => (await said.boundingBox())?.height ?? 0;
      const band = async () => (await about.locator('.top').boundingBox())?.height;
      const before = await band();
      await typed.fill('snowboard');
      await expect.poll(() => said.textContent()).toBe('Searching…');
      expect(await height()).toBeGreaterThan(20);
      expect(await band()).toBe(before);
      expect(await about.evaluate(`getComputedStyle(document.querySelector('.top .status')).clipPath`)).toBe('none');
      letAboutGo();
      await about.getByRole('option', { name: 'SnowBoard' }).waitFor();
      expect(await height()).toBeLessThan(2);
      await about.keyboard.press('Escape');
      expect([await said.textContent(), await height()]).toEqual(['', 1]);
      await typed.fill('zzzzqq');
      await expect.poll(() => said.textContent()).toBe('Nothing found');
      expect(await height()).toBeGreaterThan(20);
      await about.locator('h1').click();
      await expect.poll(height).toBeLessThan(2);
    }
  });

  it('filters and sorts, and its address can be shared', async () => {
    const page = await site.open('/search/', phone);
    await page.getByText('Narrow and sort').click();
    await page.getByLabel('Section').selectOption('themes');
    await page.locator('#results .name').first().waitFor();
    expect(await page.locator('#search-status').textContent()).toBe('240 packages');
    const offered = (name: string) => page.locator(`select[name=${name}] option`).allTextContents();
    // Each facet counts what it would leave beside the others, and leaves out what there is none of.
    await expect.poll(() => offered('price')).toEqual(['Any', 'Free (240)']);
    expect(await offered('repository')).toEqual(['Any', 'Many packages (240)']);
    expect((await offered('section')).some((text) => /^Tweaks \(\d\)$/.test(text))).toBe(true);
    expect((await offered('section')).slice(0, 2), 'the most frequent first').toEqual(['Any', 'Themes (240)']);
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

  it('leaves a filter as it is while it is used, and keeps what is chosen where nothing has it', async () => {
    const page = await site.open('/about/');
    const letGo = await holdRequests(page, '**/search-index/values/*');
    await page.goto(`${site.files.base}/search/?q=alpha`);
    await page.locator('#results .name').first().waitFor();
    const offered = (name: string) => page.locator(`select[name=${name}] option`).allTextContents();
    const before = await offered('section');
    await page.getByLabel('Section').focus();
    letGo();
    await expect.poll(async () => (await offered('price')).join()).toMatch(/\(\d+\)/);
    expect(await offered('section')).toEqual(before);
    await page.getByLabel('Section').selectOption('themes');
    await page.getByRole('searchbox').fill('snowboard');
    await expect.poll(() => offered('section')).toEqual(['Any', 'Tweaks (1)', 'Themes (0)']);
    expect(await page.getByLabel('Section').inputValue()).toBe('themes');
  });

  it('takes each choice back, one after another, as the browser goes back', async () => {
    const page = await site.open('/about/');
    await page.goto(`${site.files.base}/search/?q=alpha`);
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
    const page = await site.open('/search/?q=alpha&section=libraries');
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
    const page = await site.open('/search/?q=alpha', {}, site.computing.address);
    await page.locator('#results .name').nth(2).focus();
    const name = await page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/package/**');
    await page.goBack();
    await expect.poll(() => page.evaluate('document.activeElement.textContent'), { timeout: 5000 }).toBe(name);
  });

  it('leaves the keyboard on its row where the rows that the function sent are asked for again', async () => {
    const page = await site.open('/search/?q=alpha', phone, site.computing.address);
    const letGo = await holdRequests(page, '**/v2/jailbreak/package/search**');
    // On the way to the rows, where they are counted.
    await page.locator('#facets summary').focus();
    await page.locator('#results .name').nth(2).focus();
    const name = await page.evaluate('document.activeElement.textContent');
    await page.evaluate('for (const row of document.querySelectorAll("#results > li")) row.id = "sent"');
    letGo();
    await expect.poll(() => page.locator('#sent').count()).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe(name);
  });

  it('comes back to where one was, and not to where one was long before', async () => {
    const page = await site.open('/search/?q=many', phone);
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
    const page = await site.open('/about/');
    for (const base of [site.files.base, site.computing.address]) {
      await page.goto(`${base}/search/?q=alpha&section=bogus`);
      await expect.poll(() => names(page)).toContain('Alpha Library');
      await page.goto(`${base}/search/?q=alpha&section=Libraries`);
      await expect.poll(() => page.getByLabel('Section').inputValue()).toBe('libraries');
      await expect.poll(() => names(page)).toContain('Alpha Library');
      expect(await names(page)).not.toContain('EzSecretSettings');
      // But for slugs, whose capitals tell one from another.
      await page.goto(`${base}/search/?q=alpha&repository=Beta`);
      await expect.poll(() => names(page)).toContain('Alpha Library');
      expect(await page.locator('select[name=repository]').inputValue()).toBe('');
      // A link from before a repository was renamed.
      await page.goto(`${base}/search/?q=com&repository=alpha`);
      await expect.poll(() => names(page)).toContain('SnowBoard');
      const narrowed = await names(page);
      await page.goto(`${base}/search/?q=com&repository=oldalpha`);
      await expect.poll(() => page.locator('select[name=repository]').inputValue()).toBe('alpha');
      await expect.poll(() => names(page)).toEqual(narrowed);
      await page.goto(`${base}/search/?q=com`);
      await expect.poll(async () => (await names(page)).length).toBeGreaterThanOrEqual(20);
      expect(await names(page)).not.toEqual(narrowed);
    }
    const sent = await fetch(`${site.computing.address}/search/?q=com&repository=oldalpha`);
    expect(await sent.text()).toContain('<option value="alpha" selected>');
  });

  it('leads from a query that no package fits to the repositories with it, and sends it nowhere', async () => {
    for (const base of [site.files.base, site.computing.address]) {
      const page = await site.openAnother('/search/?q=SuitedForPho', {}, base);
      const link = page.getByRole('link', { name: 'Look for it among the repositories' });
      expect(new URL((await link.getAttribute('href')) ?? '', page.url()).search, base).toBe('');
      await link.click();
      await page.waitForURL('**/repository/#name=SuitedForPho');
      await expect.poll(() => page.locator('#repository-count').textContent()).toMatch(/^1 of \d+ repositories$/);
      expect(await page.locator('#repositories > li:visible .name').allTextContents()).toEqual(['SuitedForPhones']);
      await page.goto(`${base}/search/?q=SuitedForPho&section=themes`);
      await page.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
      expect(await link.count(), base).toBe(0);
    }
  });

  it('leads to the repository that is called as the query, whatever packages fit it', async () => {
    for (const base of [site.files.base, site.computing.address]) {
      const page = await site.openAnother('/search/?q=alpha', {}, base);
      const note = page.locator('#fit');
      await expect.poll(() => note.textContent(), { message: base }).toBe('Looking for the repository Alpha Repo?');
      expect(await names(page), base).not.toEqual([]);
      const field = page.getByRole('searchbox');
      // By its slug, and where nothing fits.
      for (const [question, name] of [
        ['MANY', 'Many packages'],
        ['suitedforphones', 'SuitedForPhones'],
      ] as const) {
        await field.fill(question);
        await expect.poll(() => note.textContent(), { message: question }).toBe(`Looking for the repository ${name}?`);
      }
      await page.goto(`${base}/search/?q=suitedforphones&section=themes`);
      await page.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
      expect(await note.isHidden(), base).toBe(true);
      await page.getByRole('button', { name: 'Clear the filters' }).click();
      await note.getByRole('link').click();
      await page.waitForURL(`${base}/repository/suited/`);
    }
  });

  it('helps where nothing is found', async () => {
    const page = await site.open('/search/?q=snow&section=themes');
    await page.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
    // Said to those who do not see that the list is gone.
    expect(await page.getByRole('main').getByRole('status').textContent()).toBe('0 packages');
    const sections = () => page.locator('select[name=section] option').allTextContents();
    await expect.poll(sections).toContainEqual(expect.stringMatching(/^Tweaks \(\d\)$/));
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    // The button is gone, so the keyboard needs another place.
    expect(await page.evaluate('document.activeElement.name')).toBe('q');
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
      await site.closeContexts();
      const sent = await site.open(`/search/?q=zzzzqq${more}`, {}, site.computing.address);
      await sent.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
      await expect.poll(() => sent.getByRole('button', { name: 'Clear the filters' }).isVisible()).toBe(isThere);
      // Which is the link of those who run no scripts: one of the two is enough.
      expect(await sent.getByRole('link', { name: 'Search without it' }).isVisible()).toBe(false);
    }
  });

  it('arrow keys walk through the results', async () => {
    const page = await site.open('/search/?q=alpha');
    await page.locator('#results .name').first().waitFor();
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.textContent')).toBe((await names(page))[1]);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await page.evaluate('document.activeElement.name')).toBe('q');
  });

  it('leaves the arrow keys to an input method while it composes a word', async () => {
    const page = await site.open('/search/?q=alpha');
    await page.locator('#results .name').first().waitFor();
    await page.getByRole('searchbox').focus();
    await page.keyboard.press('End');
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Input.imeSetComposition', { text: ' li', selectionStart: 3, selectionEnd: 3 });
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('alpha li');
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.name')).toBe('q');
    await devTools.detach();
  });

  it('Enter leads from the field to the first result of its answer, and not to one that this replaces', async () => {
    const page = await site.open('/about/');
    for (const base of [site.files.base, site.computing.address]) {
      await page.goto(`${base}/search/?q=alpha`);
      await page.locator('#results .name').first().waitFor();
      await page.evaluate("for (const name of document.querySelectorAll('#results .name')) name.dataset.before = ''");
      await page.getByRole('searchbox').press('Enter');
      const isFirst = "document.activeElement === document.querySelector('#results .name:not([data-before])')";
      await expect.poll(() => page.evaluate(isFirst), { message: base }).toBe(true);
    }
  });

  it('narrows the list of the doctor to the repository whose name or address its owner types', async () => {
    const page = await site.open('/doctor/');
    const shown = page.locator('#repositories > li:visible .name');
    const count = page.locator('#repository-count');
    const all = await shown.count();
    await page.getByLabel('Repository', { exact: true }).fill('beta');
    await expect.poll(() => shown.allTextContents()).toEqual([expect.stringContaining('Beta')]);
    expect(await count.textContent()).toBe(`1 of ${all} repositories`);
    await page.getByLabel('Repository', { exact: true }).fill('nothing of this name');
    await expect.poll(() => count.textContent()).toBe('No repository matches. Try fewer letters.');
    await page.goto(`${site.files.base}/repository/`);
    await page.getByLabel('Name', { exact: true }).fill('nothing of this name');
    await expect.poll(() => count.textContent()).toBe('No repository matches. Try fewer letters, or “Any”.');
  });

  it('shows no filter that does nothing without JavaScript, on a phone too', async () => {
    for (const size of [phone, {}]) {
      const page = await site.open('/repository/', { ...size, javaScriptEnabled: false });
      expect(await page.locator('#repository-filters').isVisible()).toBe(false);
      expect(await page.locator('#repositories > li').count()).toBe(4);
      await site.closeContexts();
    }
  });

  it('tries again by Enter, once the connection is back, where the search could not be loaded', async () => {
    const page = await site.openAnother('/search/', {}, site.files.base);
    await page.context().setOffline(true);
    await page.getByRole('searchbox').fill('snowboard');
    await page.locator('#search-status', { hasText: 'press Enter to try again' }).waitFor();
    // Without a connection the page stays.
    await page.getByRole('searchbox').press('Enter');
    await page.context().setOffline(false);
    await page.getByRole('searchbox').press('Enter');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
  });

  it('says what is missing without JavaScript where only files are', async () => {
    const page = await site.open('/', { javaScriptEnabled: false });
    await page.getByRole('combobox').fill('snow');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search/?q=snow');
    expect(await page.locator('noscript h2').isVisible()).toBe(true);
    expect(await page.locator('#facets').isHidden()).toBe(true);
  });

  it('finds nothing by a shortened word, and forgives one typing mistake in a name', async () => {
    site.files.requests.length = 0;
    const page = await site.open('/search/?q=snow');
    await page.locator('#results .name').first().waitFor();
    expect(site.files.requests.filter((name) => name.startsWith('/search-index/names/'))).toEqual([]);
    const field = page.getByRole('searchbox');
    for (const question of ['zzzzqq', 'snowzzzz', 'zzzzqq qqqqzz']) {
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
    // All that may be meant are shown, and the best is named.
    await field.fill('many 0011');
    await page.locator('#fit a', { hasText: 'Many 001' }).waitFor();
    await expect.poll(() => names(page)).toEqual(['Many 001', 'Many 011']);
    await field.fill('alpha library');
    await expect.poll(() => page.locator('#fit').isHidden()).toBe(true);
  });

  it('finds what is inside a word of a name where nothing begins so, and reads only the names that are a little longer', async () => {
    const page = await site.open('/search/?q=many%20001');
    await expect.poll(() => names(page)).toEqual(['Many 001']);
    site.files.requests.length = 0;
    await page.getByRole('searchbox').fill('nowboar');
    await expect.poll(() => names(page)).toEqual(['SnowBoard']);
    expect(await page.locator('#fit').isHidden()).toBe(true);
    const lists = site.files.requests.filter((name) => name.startsWith('/search-index/names/'));
    expect(lists).not.toContain('/search-index/names/13.json');
    // Too short to be inside anything.
    await page.getByRole('searchbox').fill('owb');
    await page.getByRole('heading', { name: 'Nothing fits.' }).waitFor();
  });

  it('takes questions as they are typed, with one word too many or a version, and letters of full width, where only files are', async () => {
    const page = await site.open('/search/?q=snow');
    const field = page.getByRole('searchbox');
    const part = 'No package has all of these words. These have all but one of them.';
    for (const [question, name, said] of [
      ['Alpha_Library', 'Alpha Library', ''],
      ['SnowBoard™', 'SnowBoard', ''],
      ['Ａｌｐｈａ　Ｌｉｂｒａｒｙ', 'Alpha Library', ''],
      ['tweak for NoFomoFix', 'NoFomoFix', part],
      ['NoFomoFix zzzzqq', 'NoFomoFix', part],
      ['SnowBoard beta', 'SnowBoard', part],
      ['Alpha Library 1.4.2-3', 'Alpha Library', part],
      ['SnowBoard for iOS 14', 'SnowBoard', part],
    ] as const) {
      await field.fill(question);
      await expect.poll(async () => [question, (await names(page))[0]]).toEqual([question, name]);
      await expect.poll(() => page.locator('#fit').textContent()).toBe(said);
      await field.fill('many 001');
      await expect.poll(async () => (await names(page))[0]).toBe('Many 001');
    }
  });

  it.each([
    ['refuse what is not there', { status: 403, body: '' }],
    ['answer for it with a page', { status: 200, contentType: 'text/html', body: '<p>Here?</p>' }],
  ])('forgives a typing mistake on hosts that %s, as where no name is as long as that', async (_, answer) => {
    const page = await site.open('/about/');
    await page.route('**/search-index/names/5.json', (route) => route.fulfill(answer));
    await page.goto(`${site.files.base}/search/?q=elekit`);
    await page.locator('#fit a', { hasText: 'ElleKit' }).waitFor();
    await page.unroute('**/search-index/names/5.json');
  });

  it('shows the first result above the fold of a phone, each with its repository and builds, in letters that no phone enlarges', async () => {
    const page = await site.open('/search/?q=snow', phone);
    const first = page.locator('#results .row').first();
    await first.waitFor();
    const box = await first.boundingBox();
    expect((box?.y ?? 999) + (box?.height ?? 999)).toBeLessThan(420);
    expect(await first.locator('.place').textContent()).toBe('Alpha Repo');
    expect(await first.locator('.notches').getAttribute('title')).toBe('Rootless, RootHide');
    const sizes = `[...document.querySelectorAll('input, select')].map((one) => parseFloat(getComputedStyle(one).fontSize))`;
    expect(Math.min(...((await page.evaluate(sizes)) as number[]))).toBeGreaterThanOrEqual(16);
    await page.goto(`${site.files.base}/search/?q=ezsecret`);
    await page.locator('#results .name').first().waitFor();
    expect(await names(page)).toEqual(['EzSecretSettings']);
    expect(await page.evaluate(splitWords)).toEqual([]);
  });

  it('finds a package by a word of its description, and tells that where only files are', async () => {
    const page = await site.open('/search/?q=hides', phone);
    const row = page.locator('#results li').first();
    expect(await row.innerText()).toContain('Settings that the system hides');
    expect(await row.innerText()).not.toContain('¶');
  });

  it('back leads to the row that one came from, after more were shown', async () => {
    const page = await site.open('/search/?q=many', phone);
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
    const page = await site.open('/search/?q=many', phone);
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    await page.evaluate(`for (const _ of [1, 2]) document.getElementById('more').click()`);
    await expect.poll(async () => (await names(page)).length).toBe(40);
    expect(new Set(await names(page)).size).toBe(40);
    // The keyboard goes on at the first that was not there before.
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe((await names(page))[20]);
  });
});
