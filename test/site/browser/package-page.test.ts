import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hostile } from '../fixture.ts';
import { phone, useSiteInBrowser } from './site-in-browser.ts';

const site = useSiteInBrowser();

describe('a package', () => {
  it('shows versions, relations and links', async () => {
    const page = await site.open('/package/com.alpha.snowboard/');
    const rows = page.getByRole('region', { name: 'Latest versions' }).locator('tbody tr');
    expect(await rows.count()).toBe(3);
    // Where there is no room for all of a host, its lines end behind its dots.
    expect(await page.locator('.facts a:has(wbr)').first().innerHTML()).toMatch(/^\s*\w+\.<wbr>\w+/);
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

  it('shows no dash for a size that is not stated where no column tells of what', async () => {
    const page = await site.openAnother('/package/com.alpha.snowboard/', {}, site.files.base);
    const cell = page.locator('table.releases td.number').first();
    await cell.evaluate((one) => one.classList.add('unknown'));
    expect(await cell.isVisible()).toBe(true);
    await page.setViewportSize(phone.viewport);
    expect(await cell.isVisible()).toBe(false);
  });

  it('answers in order: who, does it run here, install, what changed, what it needs, where else', async () => {
    const page = await site.open('/package/com.alpha.snowboard/', phone);
    const order =
      await page.evaluate(`['.title', '.trust', '.edition', '.built-for', '#install', '#description', '#changes', '#needs', '#elsewhere', '#versions']
      .map((selector) => [selector, document.querySelector(selector).getBoundingClientRect().top + scrollY])`);
    const tops = (order as [string, number][]).map(([, top]) => top);
    expect(tops).toEqual([...tops].sort((a, b) => a - b));
    expect(await page.locator('.edition .version').textContent()).toMatch(/1\.5\.1$/);
    expect(await page.locator('.built-for strong').allTextContents()).toEqual(['Rootless', 'RootHide']);
    const author = page.locator('.by a');
    await author.evaluate((link) => {
      link.textContent = 'il';
    });
    expect((await author.boundingBox())?.width, 'a short name').toBeGreaterThanOrEqual(24);
  });

  it('puts the manager that was last used first', async () => {
    const page = await site.open('/package/com.alpha.paid/');
    const managers = () => page.locator('[data-manager]').evaluateAll((all) => all.map((one) => one.dataset.manager));
    expect(await managers()).toEqual(['Sileo', 'Zebra']);
    // Chromium knows no such manager and stays where it is.
    await page.getByRole('link', { name: 'Open in Zebra' }).click();
    await page.goto(`${site.files.base}/package/com.alpha.snowboard/`);
    expect(await managers()).toEqual(['Zebra', 'Sileo']);
    expect(await page.locator('[data-manager].primary').textContent()).toMatch(/Zebra/);
  });

  it('warns above the buttons where its repository fails, and has one download for each architecture, and its digest', async () => {
    const page = await site.open('/package/com.alpha.snowboard/');
    expect(await page.locator('.downloads a').count()).toBe(2);
    const digests = page.locator('#digests [role=group]');
    expect(
      await digests.evaluateAll((all) => all.map((one) => [one.getAttribute('aria-label'), one.textContent])),
    ).toEqual([
      ['SHA-256 for iphoneos-arm64', 'a'.repeat(64)],
      ['SHA-256 for iphoneos-arm64e', 'b'.repeat(64)],
    ]);
    await page.goto(`${site.files.base}/package/com.beta.only/`);
    const [doubt, install] = [await page.locator('#doubt').boundingBox(), await page.locator('#install').boundingBox()];
    expect(doubt?.y ?? 0).toBeLessThan(install?.y ?? 0);
    expect(await page.locator('#doubt').textContent()).toMatch(/may not install.*Beta since 17 Nov 2026/s);
    expect(await page.locator('[data-manager]').count()).toBeGreaterThan(0);
    expect(await page.locator('[data-manager].primary').count()).toBe(0);
    await page.goto(`${site.files.base}/repository/beta/`);
    const [title, warning] = [page.locator('.package > .title'), page.locator('#doubt')];
    // Whatever else stands before it.
    for (const more of ['', '<p class="about">About</p>', '<p class="note">Another note</p>']) {
      await title.evaluate((element, markup) => element.insertAdjacentHTML('afterend', markup), more);
      const [above, add] = [await warning.boundingBox(), await page.locator('[data-managers]').boundingBox()];
      expect((above?.y ?? 9999) + (above?.height ?? 0), more).toBeLessThanOrEqual(add?.y ?? 0);
    }
    expect(await page.locator('[data-manager].primary').count()).toBe(0);
    await page.goto(`${site.files.base}/repository/alpha/`);
    expect(await page.locator('#doubt').count()).toBe(0);
    expect(await page.locator('[data-manager].primary').count()).toBe(1);
  });

  it('has room for a repository whose name is one long word, in its buttons too', async () => {
    const page = await site.open('/package/com.alpha.snowboard/');
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const names = page.locator('.actions .add-first bdi');
      expect(await names.count()).toBe(1);
      await names.evaluate((name) => {
        name.textContent = 'W'.repeat(120);
      });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
  });

  it('has the button that leads to its repository end where those of the package managers do, unless all are as wide as their words', async () => {
    const page = await site.open('/package/com.alpha.snowboard/');
    const ends = () =>
      page.evaluate<number[]>(
        "['.managers', '.add-first'].map((one) => document.querySelector('.actions ' + one).getBoundingClientRect().right)",
      );
    for (const width of [390, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const [managers = 0, first] = await ends();
      expect(first, `${width}`).toBeCloseTo(managers, 0);
    }
    await page.setViewportSize({ width: 900, height: 900 });
    const [managers = 0, first] = await ends();
    expect(first).toBeLessThan(0.7 * managers);
  });

  it('has room for its name beside a dozen architectures, and its version at the edge', async () => {
    const page = await site.open('/package/com.alpha.snowboard/');
    const right = (selector: string) =>
      page.locator(selector).evaluate((one) => Math.round(one.getBoundingClientRect().right));
    await page.locator('.built-for').evaluate((list) => {
      const one = '<li><strong>Rootless</strong><span class="mono">iphoneos-arm64</span></li>';
      list.innerHTML = one.repeat(12);
    });
    for (const width of [900, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const name = await page.locator('.package > .title h1').boundingBox();
      expect(name?.height, `one line at ${width}`).toBeLessThan(60);
      expect(await right('.edition .version'), `${width}`).toBe(await right('.built-for'));
    }
  });

  it('has its name and its version on one line each beside its buttons, where the version is long, too', async () => {
    const page = await site.open('/package/com.alpha.snowboard/');
    // The longest that is as large as a short one.
    await page.locator('.edition .version').evaluate((version) => {
      version.lastChild?.replaceWith('1.0.0-21+debug12');
    });
    for (const width of [900, 1024, 1184, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      for (const one of ['.package h1', '.edition .version'])
        expect((await page.locator(one).boundingBox())?.height, `${one} at ${width}`).toBeLessThan(60);
    }
  });

  it('has room in the table of what it runs on for a version that is one long word', async () => {
    const page = await site.open('/package/com.alpha.snowboard/');
    const table = page.locator('#runs-on [role=region]');
    await table
      .locator('p > .mono')
      .first()
      .evaluate((version) => {
        version.textContent = '1'.repeat(120);
      });
    expect(await table.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  });

  it('keeps an architecture on one line, and its tile beside the first line of a long name, on a phone', async () => {
    const page = await site.open('/package/com.alpha.snowboard/', { ...phone, bypassCSP: true });
    const tops = await page.evaluate(`(() => {
      const title = document.querySelector('.package h1');
      title.textContent = 'A Package With A Rather Long Name '.repeat(4);
      return [title, document.querySelector('.package > .monogram')].map((one) => one.getBoundingClientRect().top);
    })()`);
    expect(new Set(tops as number[]).size).toBe(1);
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    const lines = await page.evaluate(`[...document.querySelectorAll('.stated td:first-child .mono')].map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    })`);
    expect(lines).toEqual([1, 1, 1]);
  });

  it('writes nothing over a name of a repository that has it, however long that is', async () => {
    const page = await site.open('/package/com.alpha.snowboard/', { ...phone, bypassCSP: true });
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    const over = await page.evaluate(`[...document.querySelectorAll('#elsewhere .name')].flatMap((name) => {
      name.textContent = 'A Repository With A Rather Long Name '.repeat(4);
      const { overflowY } = getComputedStyle(name);
      return overflowY === 'visible' && name.scrollHeight > name.clientHeight ? [name.scrollHeight - name.clientHeight] : [];
    })`);
    expect(over).toEqual([]);
  });

  it('keeps the word before the long name of an author beside it, and the count behind that of a repository, on a phone', async () => {
    const page = await site.open('/package/com.alpha.snowboard/', phone);
    const long = 'ANameThatHasNoBlanks'.repeat(5);
    const below = await page.evaluate(`(() => {
      const link = document.querySelector('.by a');
      link.textContent = '${long}';
      const [word, name] = [link.previousSibling, link.firstChild].map((text) => {
        const range = document.createRange();
        range.selectNodeContents(text);
        return range.getBoundingClientRect().top;
      });
      return name - word;
    })()`);
    expect(below).toBeLessThan(5);
    await page.locator('.by a').click();
    const cut = await page.evaluate(`(() => {
      const chip = document.querySelector('.author-places .chip');
      chip.querySelector('bdi').textContent = '${long}';
      return chip.scrollWidth - chip.clientWidth;
    })()`);
    expect(cut).toBe(0);
  });

  it('folds a long description after twelve lines, and unfolds it without JavaScript', async () => {
    const page = await site.open('/package/com.beta.only/', { ...phone, javaScriptEnabled: false });
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
    const counted = await fetch(`${site.computing.address}/v2/jailbreak/download/ingest`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(report),
    });
    expect(await counted.json()).toMatchObject({ count: 1 });
    const page = await site.open('/package/com.alpha.snowboard/', {}, site.computing.address);
    await days(page).scrollIntoViewIfNeeded();
    const chart = days(page).getByRole('img');
    await chart.waitFor();
    expect(await chart.getAttribute('aria-label')).toMatch(/^1 download in the last 30 days, most on \d+ \w+: 1$/);
    expect((await chart.locator('path').getAttribute('d'))?.match(/M/g)).toHaveLength(30);
    expect(site.outside.filter((one) => !one.startsWith('image'))).toEqual([]);
    await site.closeContexts();
    const plain = await site.open('/package/com.alpha.snowboard/');
    const answer = plain.waitForResponse('**/v2/jailbreak/download/**');
    await days(plain).scrollIntoViewIfNeeded();
    expect((await answer).ok()).toBe(false);
    expect(await days(plain).innerHTML()).toBe('');
  });
  it('C11: shows what it may of its native depiction, and screenshots only at the press of the button that names their host', async () => {
    const page = await site.open('/package/com.alpha.snowboard/', { bypassCSP: true });
    const section = page.locator('#depiction');
    expect(await section.locator('.head').textContent()).toMatch(/More about it\s*as tellings\.example tells it/);
    expect(await section.locator('.prose').first().innerText()).toMatch(
      /^Themes for all of it, as said\..* no\s+one\s+two/,
    );
    // Of a list in two directions each mark has its place within it.
    const marks = await page.evaluate<string[]>(
      `[...document.querySelectorAll('#depiction ul > li')].map((li) => getComputedStyle(li).direction + [li.offsetLeft - li.parentElement.offsetLeft, li.parentElement.offsetWidth - li.offsetWidth].map((gap) => gap > 10))`,
    );
    expect(marks).toEqual(['ltrtrue,true', 'ltrtrue,true', 'rtlfalse,true']);
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
    expect(site.outside.filter((one) => /shots|tellings/.test(one))).toEqual([]);
    const button = section.getByRole('button', { name: 'Show 2 screenshots from shots.example' });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect
      .poll(() => site.outside.filter((one) => one.includes('shots')))
      .toEqual(
        expect.arrayContaining([
          'image https://shots.example/1.png no referrer',
          'image https://shots.example/2.png no referrer',
        ]),
      );
    expect(await section.getByRole('img', { name: 'The home screen' }).getAttribute('loading')).toBe('lazy');
    expect(await button.count()).toBe(0);
    expect(await page.evaluate('document.activeElement.href')).toBe('https://shots.example/1.png');
    await site.closeContexts();
    const plain = await site.open('/package/com.alpha.snowboard/', { javaScriptEnabled: false });
    expect(await plain.locator('#depiction').getByRole('button').count()).toBe(0);
    // Links of their own, as high as any, that begin where the text below them does.
    const link = await plain.getByRole('link', { name: 'The home screen' }).boundingBox();
    expect(link?.height).toBeGreaterThanOrEqual(24);
    expect(link?.x).toBe((await plain.locator('#depiction .prose').first().boundingBox())?.x);
    expect(site.outside.filter((one) => /tellings/.test(one))).toEqual([]);
  });

  it('shows its versions on a phone without scrolling sideways, and a field in its header that answers as one types', async () => {
    const page = await site.open('/package/com.alpha.snowboard/', phone);
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
    // What two letters begin stands there before the answer.
    await expect.poll(() => page.locator('.top .status').textContent()).toMatch(/found; Enter shows all$/);
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

  it('has a version, its chips and its file on one line of a phone, then what it is, and its repository where there are several', async () => {
    const page = await site.open('/package/com.alpha.snowboard/', phone);
    const row = page.getByRole('region', { name: 'Latest versions' }).locator('tbody tr').last();
    const middle = async (what: string) => {
      const box = await row.locator(what).first().boundingBox();
      return (box?.y ?? Number.NaN) + (box?.height ?? Number.NaN) / 2;
    };
    const heights = await row
      .locator('.chip')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    expect(heights.length).toBeGreaterThan(1);
    expect(new Set(heights).size).toBe(1);
    expect(Math.abs((await middle('.version')) - (await middle('.file')))).toBeLessThan(8);
    expect(await middle('[title^=iphoneos]')).toBeGreaterThan((await middle('.version')) + 12);
    expect(await middle('.place')).toBeGreaterThan((await middle('[title^=iphoneos]')) + 12);
    expect(await row.innerText()).not.toMatch(/–/);
    // Also a build whose word is short, and beside a version without a file.
    const build = row.locator('[title^=iphoneos]');
    await build.evaluate((cell) => {
      cell.textContent = 'all';
    });
    expect(await middle('[title^=iphoneos]')).toBeGreaterThan((await middle('.version')) + 12);
    await row.locator('.file').evaluate((cell) => cell.replaceChildren());
    expect(await middle('[title^=iphoneos]')).toBeGreaterThan((await middle('.version')) + 12);
    await page.goto(`${site.files.base}/package/com.alpha.lib/`);
    expect(await page.locator('.releases .place').count()).toBe(0);
  });

  it('begins each line of a version and its chips at one edge, with room below the table for what is said of it', async () => {
    const page = await site.open('/package/com.alpha.ezsecretsettings/', phone);
    const edges = await page
      .locator('.releases td.version > .chip')
      .evaluateAll((chips) => chips.map((chip) => chip.getBoundingClientRect()));
    const version = await page.locator('.releases td.version').boundingBox();
    const below = edges.filter(({ top }) => top > (edges[0]?.top ?? 0));
    expect(below.map(({ left }) => Math.round(left - (version?.x ?? 0)))).toEqual([0]);
    expect((edges[0]?.left ?? 0) - (version?.x ?? 0)).toBeGreaterThan(100);
    const table = await page.locator('#versions > .card').boundingBox();
    const said = await page.locator('#versions > .muted').boundingBox();
    expect((said?.y ?? 0) - (table?.y ?? 0) - (table?.height ?? 0)).toBeGreaterThan(8);
  });

  it('gives a fact the room that its name leaves: the address of a site takes one line, on a phone too', async () => {
    for (const options of [phone, { viewport: { width: 1440, height: 900 } }]) {
      const page = await site.open('/package/com.alpha.snowboard/', options);
      const link = page.locator('aside .facts dd > a').last();
      await link.evaluate((one) => {
        one.innerHTML = 'moreinfo<wbr>.thebigboss<wbr>.org';
      });
      expect((await link.boundingBox())?.height).toBeLessThan(30);
      const edges = await page.evaluate<number[]>(
        "[...document.querySelectorAll('aside .facts dt')].map((name) => name.getBoundingClientRect().left)",
      );
      expect(new Set(edges).size).toBe(1);
    }
  });

  it('has the name of a fact beside the first line of what it links to', async () => {
    const page = await site.open('/package/com.alpha.snowboard/', phone);
    // Where the letters of each begin, of the link as it is and with so many words that it takes two lines.
    const tops = await page.evaluate<number[]>(`[...document.querySelectorAll('.facts dd > a')].flatMap((link) => {
      const topOf = (one) => {
        const letters = document.createRange();
        letters.selectNodeContents(one);
        return letters.getClientRects()[0].top;
      };
      const apart = () => topOf(link) - topOf(link.parentElement.previousElementSibling);
      const before = apart();
      link.textContent = 'a section that a repository gave a name of two lines or more';
      return [before, apart()];
    })`);
    expect(tops.length).toBeGreaterThan(2);
    for (const apart of tops) expect(Math.abs(apart)).toBeLessThan(0.75);
  });

  it('says when it was first seen beside its version as among its facts, and what a day before means', async () => {
    const page = await site.open('/package/com.alpha.lib/', phone);
    const told = await page.locator('.facts dt', { hasText: 'First seen' }).locator('+ dd').textContent();
    expect(told).toMatch(/^before \d+ \w+ \d{4}$/);
    const seen = page.locator('#versions [data-label="Seen"]');
    expect([...new Set(await seen.allTextContents())]).toEqual([told]);
    const label = `getComputedStyle(document.querySelector('#versions [data-label="Seen"]'), '::before').content`;
    expect(await page.evaluate(label)).toContain('Seen');
    expect(await page.locator('#versions > .muted').textContent()).toMatch(
      /it was there when its repository was first read/,
    );
  });

  it('shows its letters in the place of an icon that does not load, and of any where no script can take it away', async () => {
    const still = await site.open('/package/com.alpha.snowboard/', { javaScriptEnabled: false });
    expect(await still.locator('.monogram img').first().isVisible()).toBe(false);
    const page = await site.open('/package/com.alpha.snowboard/');
    const tile = page.locator('.monogram.large');
    await expect.poll(() => tile.locator('img').count()).toBe(0);
    expect(await tile.textContent()).toBe('SB');
    expect(site.outside).toContain('image https://icons.example/missing.png no referrer');
  });

  it('links neither a download that leaves the repository nor a home page that is no web page', async () => {
    const page = await site.open('/package/com.alpha.escaping/');
    expect(await page.getByRole('link', { name: /Download|deb|Home/ }).count()).toBe(0);
    expect(await page.content()).not.toContain('passwd');
  });

  it('C11: text full of markup is inert on every page that shows it', async () => {
    const list = await site.open('/search/?q=document');
    await list.waitForLoadState('networkidle');
    const page = await site.open('/section/tweaks/', { bypassCSP: true });
    const address = await page.getByText(hostile.name).first().getAttribute('href');
    for (const where of [address ?? '', '/repository/alpha/', '/section/tweaks/', '/status/', '/', '/search/?q=evil']) {
      await page.goto(site.files.base + where);
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
    expect(site.outside.filter((one) => one.includes('evil'))).toEqual([]);
  });
});
