import { describe, expect, it } from 'vitest';
import { phone, useSiteInBrowser } from './site-in-browser.ts';

const site = useSiteInBrowser();

describe('a repository', () => {
  it('copies its address, and says so to who hears the page, too', async () => {
    const page = await site.open('/repository/alpha/', { permissions: ['clipboard-read', 'clipboard-write'] });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('Copy address').click();
    await button('Copied').waitFor();
    await button('Copy address').waitFor();
    expect(await button('Copy address').textContent()).toBe('Copy');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('https://alpha.example/repo/');
  });

  it('folds a long description after twelve lines, and unfolds it without JavaScript', async () => {
    const page = await site.open('/repository/beta/', { ...phone, javaScriptEnabled: false });
    const height = async () => (await page.locator('.package .prose').boundingBox())?.height ?? 0;
    const folded = await height();
    expect(folded).toBeLessThan(320);
    await page.getByText('Read all of it').click();
    expect(await height()).toBeGreaterThan(folded * 1.5);
    await page.goto(`${site.files.base}/repository/alpha/`);
    expect(await page.locator('.package .prose').textContent()).toContain('Tweaks & tools');
    expect(await page.getByText('Read all of it').count()).toBe(0);
  });

  it('names its sections, and without JavaScript leads to no search that would forget which one', async () => {
    const page = await site.open('/repository/alpha/');
    const links = page.locator('aside a.chip:visible');
    const named = (await links.allTextContents()).map((text) => text.trim());
    expect(named.length).toBeGreaterThan(1);
    expect(await links.first().getAttribute('href')).toMatch(/^\/search\/\?repository=alpha&section=[a-z-]+$/);
    await site.closeContexts();
    const plain = await site.open('/repository/alpha/', { javaScriptEnabled: false });
    const words = await plain.locator('aside .chip:visible').allTextContents();
    expect(words.map((text) => text.trim())).toEqual(named);
    for (const address of ['/repository/alpha/', '/repository/many/', '/section/themes/']) {
      await plain.goto(site.files.base + address);
      expect(await plain.locator('a[href^="/search/?"]:not([href*="q="]):visible').count(), address).toBe(0);
    }
  });

  it('shows its badge, which one copies, with room for what is said below', async () => {
    const page = await site.open('/repository/alpha/', phone);
    await page.getByText('A badge for its README').click();
    const copied = await page.locator('.badge .copy').boundingBox();
    const below = await page.locator('.badge .small').boundingBox();
    expect((below?.y ?? 0) - (copied?.y ?? 0) - (copied?.height ?? 0)).toBeGreaterThan(4);
  });

  it('offers the managers that can install something of it, or a line for sources.list where it is not flat', async () => {
    const flat = await site.open('/repository/alpha/');
    expect(await flat.getByRole('link', { name: /^Add to/ }).count()).toBe(2);
    expect(await flat.locator('.package').getByText('sources.list').count()).toBe(0);
    await flat.goto(`${site.files.base}/repository/beta/`);
    expect(await flat.getByRole('link', { name: /^Add to/ }).count()).toBe(2);
    await flat.goto(`${site.files.base}/repository/alpha/`);
    expect(await flat.getByRole('heading', { name: 'A package has no file' }).isVisible()).toBe(true);
    await site.closeContexts();
    const suited = await site.open('/repository/suited/', phone);
    expect(await suited.getByRole('link', { name: /^Add to/ }).count()).toBe(0);
    expect(await suited.getByText('deb https://suited.example/apt stable main').isVisible()).toBe(true);
    expect(await suited.locator('.package .actions').innerText()).toMatch(
      /^A jailbreak brings its packages\. No link can .* the name of its suite too, stable\. Copy its line/,
    );
    // On a phone that lies below all of its packages.
    await suited.locator('.package').getByRole('link', { name: 'line for sources.list' }).click();
    expect(await suited.locator(':target').innerText()).toContain('deb https://suited.example/apt stable main');
  });

  it('sets the managers two in a row of a phone, of one width, where it prefers none', async () => {
    const page = await site.open('/repository/beta/', phone);
    const boxes = await page.evaluate<{ left: number; width: number }[]>(`(() => {
      const managers = document.querySelector('[data-managers]');
      managers.replaceChildren(...['Sileo', 'Zebra', 'Cydia', 'Installer'].map((name) => {
        const button = managers.firstElementChild.cloneNode(true);
        button.textContent = 'Add to ' + name;
        return button;
      }));
      return [...managers.children].map((one) => one.getBoundingClientRect()).map(({ left, width }) => ({ left, width }));
    })()`);
    expect(boxes.length).toBe(4);
    expect(new Set(boxes.map(({ left }) => Math.round(left))).size).toBe(2);
    expect(new Set(boxes.map(({ width }) => Math.round(width))).size).toBe(1);
  });

  it('tells of what is to mend at once, and of the rest by its title, which opens without JavaScript', async () => {
    const page = await site.open('/repository/alpha/', { ...phone, javaScriptEnabled: false });
    const findings = page.locator('#findings .note');
    const shown = async () =>
      Promise.all(
        (await findings.all()).map(async (one) => [
          await one.getAttribute('class'),
          await one.locator('p').first().isVisible(),
        ]),
      );
    expect(await shown()).toEqual([
      ['note broken', true],
      ['note weak', false],
      ['note weak', false],
    ]);
    await findings.nth(1).locator('summary').first().click();
    // What is said lies below the title, whose ring would be drawn across it.
    for (const one of [findings.first(), findings.nth(1)]) {
      const [title, said] = await Promise.all([
        one.locator('summary').first().boundingBox(),
        one.locator('p').first().boundingBox(),
      ]);
      expect((said?.y ?? 0) - (title?.y ?? 0) - (title?.height ?? 0)).toBeGreaterThanOrEqual(0);
    }
    expect(await findings.nth(1).locator('p').first().isVisible()).toBe(true);
    // Since when it is so, where builds have noted that.
    const dated = page.locator('#findings .note', { hasText: 'Seen since' });
    expect(await dated.locator('h3, time').allInnerTexts()).toEqual([
      'Another repository has the same version with different bytes',
      '1 Nov 2026',
    ]);
    await page.goto(`${site.files.base}/doctor/alpha/`);
    expect(await dated.locator('h3, time').allInnerTexts()).toEqual([
      'Another repository has the same version with different bytes',
      '1 Nov 2026',
    ]);
    // In a list of all repositories each has its name and how it fares on one line.
    await page.goto(`${site.files.base}/status/`);
    const row = page.locator('table.status tr', { hasText: 'Many packages' });
    const [name, fares] = await Promise.all(['a', '.chip'].map((one) => row.locator(one).first().boundingBox()));
    expect(Math.abs((name?.y ?? 0) - (fares?.y ?? 99))).toBeLessThan(8);
    for (const one of await page.locator('table.status tbody tr').all()) {
      const [chip, figure] = await Promise.all([1, 2].map((at) => one.locator('td').nth(at).boundingBox()));
      expect((figure?.y ?? 0) - (chip?.y ?? 0), await one.innerText()).toBeGreaterThan(12);
    }
    expect(await row.locator('td').nth(1).innerText()).toMatch(/^(?:Updated|Unchanged)$/);
  });

  it('keeps its row in the tables and lists of all in view, however long its name is', async () => {
    const page = await site.open('/status/', { viewport: { width: 1440, height: 900 } });
    const linesOf = (list: string, name: string) =>
      page.evaluate<number>(`(() => {
        const link = document.querySelector(${JSON.stringify(list)});
        link.textContent = ${JSON.stringify(name)};
        return link.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(link).lineHeight);
      })()`);
    for (const name of ['A Name of Words '.repeat(12), 'x'.repeat(200)]) {
      await linesOf('table.status a', name);
      const table = page.getByRole('region', { name: 'Repositories' });
      expect(await table.evaluate((one) => one.scrollWidth - one.clientWidth), name).toBe(0);
    }
    await page.goto(`${site.files.base}/repository/`);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await linesOf('.row .name', 'Alpha')).toBeCloseTo(1, 1);
    for (const name of ['A Name of Words '.repeat(12), 'x'.repeat(200)])
      expect(await linesOf('.row .name', name), name).toBeCloseTo(5, 1);
    // All of the row leads to it, not only what is seen of its name.
    await page.locator('.row .line').first().click({ force: true });
    await page.waitForURL('**/repository/*/');
  });

  it('C4: says what its last crawl failed with, and how old its data is', async () => {
    const page = await site.open('/repository/beta/');
    expect(await page.getByText('It answers too slowly.').textContent()).toMatch(/last confirmed on .*17/);
    const status = (await site.open('/status/')).getByText('It answers too slowly.');
    expect(await status.isVisible()).toBe(true);
    expect(await status.locator('time').getAttribute('datetime')).toBe('2026-11-17T10:00:00.000Z');
  });

  it('names every fact about it alike, with a capital', async () => {
    const page = await site.open('/repository/alpha/');
    for (const fact of await page.locator('.facts dt').allTextContents()) expect(fact).toMatch(/^[A-Z]/);
  });

  it('is found under a slug that it had before', async () => {
    const page = await site.open('/repository/oldalpha/');
    await page.waitForURL('**/repository/alpha/');
    expect(await page.locator('h1').textContent()).toBe('Alpha Repo');
  });

  it('says in its head and on the status page whether it is signed', async () => {
    const page = await site.open('/repository/alpha/');
    expect(await page.locator('.package .chips').getByText('Not signed').isVisible()).toBe(true);
    await page.goto(`${site.files.base}/status/`);
    const row = page.getByRole('row').filter({ hasText: 'Alpha Repo' });
    expect(await row.getByText('Not signed').getAttribute('title')).toBe('The repository is not signed.');
    // The line below the number of findings ends with it, before the chip.
    const findings = row.getByRole('link', { name: '3 about Alpha Repo 1 to mend', exact: true });
    expect(await findings.evaluate((one) => one.firstChild?.textContent)).toBe('3');
  });

  it('pages through a long list', async () => {
    const page = await site.open('/repository/many/');
    expect(await page.locator('.list .name').count()).toBe(100);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL('**/repository/many/2/');
    expect(await page.locator('.list .name').first().textContent()).toBe('Many 100');
  });

  it('is found by its name, its host and its slug in the list, as one types', async () => {
    const page = await site.open('/repository/');
    const listed = page.locator('#repositories > li:visible .name');
    for (const [typed, found] of [
      ['PACK many', ['Many packages']],
      ['beta.exam', ['Beta']],
      ['https://Beta.example/Packages.gz', ['Beta']],
      ['beta.example/', ['Beta']],
      ['sileo://source/https://beta.example/', ['Beta']],
      ['cydia://url/https://cydia.saurik.com/api/share#?source=https://beta.example/', ['Beta']],
      ['suited', ['SuitedForPhones']],
      ['repository', []],
      [' ', ['Alpha Repo', 'SuitedForPhones', 'Beta', 'Many packages']],
    ] as const) {
      await page.getByRole('searchbox', { name: 'Name' }).fill(typed);
      expect(await listed.allTextContents(), typed).toEqual(found);
      expect(await page.locator('#repositories').isVisible(), typed).toBe(found.length > 0);
      const says = found.length > 0 ? /^\d( of 4)? repositor/ : /^No repository matches\. /;
      expect(await page.locator('#repository-count').textContent(), typed).toMatch(says);
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
    const page = await site.open('/repository/');
    await page.getByLabel('Ranking').selectOption('1');
    expect(await page.locator('#repositories > li:visible .name').allTextContents()).toEqual(['Alpha Repo']);
    await page.getByLabel('Ranking').selectOption('');
    await page.getByLabel('Health').selectOption('poor');
    expect(await page.locator('#repositories > li:visible .name').allTextContents()).toEqual(['Beta']);
    expect(await page.locator('#repository-count').textContent()).toBe('1 of 4 repositories');
  });

  it('is in a list that is narrowed as its filters say when one comes back, where the browser fills them in later', async () => {
    const page = await site.open('/repository/');
    const listed = page.locator('#repositories > li:visible .name');
    await page.getByLabel('Health').selectOption('poor');
    await listed.click();
    await page.waitForURL('**/repository/beta/');
    await page.goBack();
    expect(await page.getByLabel('Health').inputValue()).toBe('poor');
    await expect.poll(() => listed.allTextContents()).toEqual(['Beta']);
    expect(await page.locator('#repository-count').textContent()).toBe('1 of 4 repositories');
  });
});
