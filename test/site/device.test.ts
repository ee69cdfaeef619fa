import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { statedLists } from '../../src/results/stated-lists.ts';
import { holdRequests } from '../support/hold-requests.ts';
import { barOf, choose, endVisit, open, out, server, settle, useDeviceSite, verdicts } from './device-site.ts';

useDeviceSite();

describe('C14: the device of the visitor', () => {
  it('is asked for once, and every row then says what it states', async () => {
    const page = await open('/section/tweaks/');
    expect(Object.values(await verdicts(page, '.list')).filter((words) => words !== '')).toEqual([]);
    await choose(page, '16.7', 'rootless');
    expect(await barOf(page)).toBe('iOS 16.7 · rootless');
    expect(await page.locator('[data-device-name]').textContent(), 'no line begins with the dot').toContain('\u00a0·');
    expect(await verdicts(page, '.list')).toEqual({
      'Snow Both': 'Runs here',
      'Snow Old': 'Rootless, iOS not stated',
      'Snow New': 'Rules out iOS 16.7',
      'Snow Silent': 'Rootless, iOS not stated',
      'Snow Named (iOS 15 - 17)': 'Rootless, names iOS 15 to 17',
      'Snow Elsewhere (iOS 11)': 'Rootless, but names iOS 11',
      'Snow Everywhere': 'Runs here',
      'Snow Desktop': 'Not for iPhones',
      'Snow<b>Bold</b>': 'Runs here',
    });
    const other = await open('/');
    expect(await barOf(other)).toBe('iOS 16.7 · rootless');
  });

  it('is judged by the builds of all repositories in lists over all of them, and those are what a row is marked with', async () => {
    const page = await open('/about/');
    const of = async (address: string) => {
      await page.goto(`${server.base}${address}ios=16.7&build=rootless`);
      const row = page.locator('.row[data-package="com.example.snowold"]');
      const verdict = await row.locator('.verdict').textContent();
      return [verdict, await row.locator('.notches').getAttribute('title')];
    };
    const ofAll = ['Rootless, iOS not stated', 'Rootful, Rootless'];
    expect(await of('/section/tweaks/?')).toEqual(ofAll);
    expect(await of('/search/?q=snow+old&')).toEqual(ofAll);
    expect(await of('/search/?q=snow+old&architecture=iphoneos-arm64&')).toEqual(ofAll);
    expect(await of('/repository/one/?')).toEqual(['No rootless build', 'Rootful']);
  });

  it('stays in the browser: no request tells of it but for an address that holds it', async () => {
    server.requests.length = 0;
    // In a profile that has nothing cached.
    const page = await open('/section/tweaks/', {});
    await choose(page, '16.7', 'rootless');
    await page.goto(`${server.base}/package/com.example.snowboth/`);
    await page.waitForLoadState('networkidle');
    expect(server.requests.length).toBeGreaterThan(2);
    expect(server.requests.filter((name) => /16\.7|rootless|ios=/.test(name))).toEqual([]);
  });

  it('stands in the address, which can be shared, and changes nothing of whom it is shared with', async () => {
    const page = await open('/section/tweaks/');
    await choose(page, 'iOS 14.3', 'rootful');
    expect(new URL(page.url()).search).toBe('?ios=14.3&build=rootful');
    // As the keypads of many languages have it.
    await choose(page, '14,4,1', 'rootful');
    expect(new URL(page.url()).search).toBe('?ios=14.4.1&build=rootful');
    await choose(page, '14.3', 'rootful');
    const address = new URL(page.url());
    await endVisit();
    const theirs = await open('/');
    await choose(theirs, '17', 'roothide');
    expect(await barOf(theirs)).toBe('iOS 17.0 · RootHide');
    const shared = await open(address.pathname + address.search);
    expect(await barOf(shared)).toBe('iOS 14.3 · rootful');
    expect((await verdicts(shared, '.list'))['Snow Both']).toBe('Runs here');
    expect(await barOf(await open('/'))).toBe('iOS 17.0 · RootHide');
  });

  it('goes into a link to any other page, which is copied', async () => {
    const page = await open('/');
    await choose(page, '14.3', 'rootful');
    await page.goto(`${server.base}/package/com.example.snowboth/?from=list#install`);
    // A button that tells that it has copied is called otherwise meanwhile.
    const share = page.locator('#device [name=share]');
    await page.locator('#device-bar summary').click();
    await page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text; }');
    await share.click();
    const expected = `${server.base}/package/com.example.snowboth/?from=list&ios=14.3&build=rootful#install`;
    expect(page.url()).toBe(expected);
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('window.copied')).toBe(expected);
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.locator('#device-bar summary').click();
    await page.getByRole('button', { name: 'Show what runs' }).waitFor();
    const sentence = page.getByText('gives a link to this page');
    expect([await share.isVisible(), await sentence.isVisible()]).toEqual([false, false]);
    await page.locator('#device-bar summary').click();
    // Where copying is refused, the link is where it can be taken by hand.
    await choose(page, '15', 'rootless');
    await page.goto(`${server.base}/new/`);
    await page.locator('#device-bar summary').click();
    await page.evaluate("navigator.clipboard.writeText = async () => { throw new Error('refused'); }");
    await share.click();
    await page.getByRole('button', { name: 'Copy the address' }).waitFor();
    expect(new URL(page.url()).search).toBe('?ios=15.0&build=rootless');
    // The link is to what the page says, which is not what stands in the form and was not chosen yet.
    const visible = async () => [await share.isVisible(), await sentence.isVisible()];
    expect(await page.locator('#device p').last().textContent()).toMatch(/browser\. “Copy link”/);
    for (const [ios, shown] of [
      ['15.1', false],
      ['15,0', true],
      ['', true],
    ] as const) {
      await page.locator('#device input').fill(ios);
      expect(await visible()).toEqual([shown, shown]);
    }
    await page.locator('#device select').selectOption('rootful');
    await page.locator('#device input').fill('15');
    expect(await visible()).toEqual([false, false]);
  });

  it('of a shared address goes along where nothing is kept, in this tab and until another is chosen', async () => {
    const page = await open('/section/tweaks/?ios=14.3&build=rootful');
    await page.locator('.row .name', { hasText: 'Snow Both' }).click();
    await page.waitForURL('**/package/com.example.snowboth/');
    expect(await barOf(page)).toBe('iOS 14.3 · rootful');
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Runs here');
    const other = await open('/');
    expect(await barOf(other)).not.toContain('14.3');
    await choose(page, '17', 'roothide');
    await page.goto(`${server.base}/`);
    expect(await barOf(page)).toBe('iOS 17.0 · RootHide');
    await page.locator('#device-bar summary').click();
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.goto(`${server.base}/new/`);
    expect(await barOf(page)).not.toContain('iOS 1');
  });

  it('finds in the lists what a search that is narrowed by build does not: the other builds of a package', async () => {
    const lists: Record<string, string>[] = [];
    for (let number = 0; number < statedLists.count(3000); number++) {
      const answer = await fetch(`${server.base}/${statedLists.file(number)}`);
      if (answer.ok) lists.push((await answer.json()) as Record<string, string>);
    }
    const all = Object.assign({}, ...lists) as Record<string, string>;
    expect(all).toMatchObject({ 'com.example.plain': 'rootful;rootless' });
    expect(Object.keys(all)).not.toContain('com.example.snowdesktop');
  });

  it('leads from a list to the packages of it that have a build for the device', async () => {
    const page = await open('/section/tweaks/');
    const link = page.getByRole('link', { name: /builds$/ });
    expect(await link.count()).toBe(0);
    await choose(page, '16.7', 'rootless');
    expect(await link.textContent()).toBe('Rootless builds');
    const line = page.locator('main p').filter({ has: link });
    expect(await line.innerText()).toBe('Feed · Rootless builds · Search in this section');
    await choose(page, '14.3', 'rootful');
    expect(await link.textContent()).toBe('Rootful builds');
    await link.click();
    await page.waitForURL('**/search/?section=tweaks&architecture=iphoneos-arm');
    const found = page.locator('#results .name');
    await expect.poll(() => found.allTextContents()).toContain('Snow Old');
    expect(await found.allTextContents()).not.toContain('Snow New');
    await page.goto(`${server.base}/repository/one/`);
    expect(await link.getAttribute('href')).toContain('/search/?repository=one&architecture=iphoneos-arm');
    await page.locator('#device-bar summary').click();
    await page.getByRole('button', { name: 'Forget' }).click();
    expect(await link.count()).toBe(0);
  });

  it('leads from a list to no build that none of its packages is for', () => {
    const offeredOn = (name: string) =>
      [
        ...readFileSync(path.join(out, name, 'index.html'), 'utf8').matchAll(/class="of-build" data-build="(\w+)"/g),
      ].map(([, build]) => build);
    expect(offeredOn('repository/three')).toEqual(['rootful', 'rootless', 'roothide']);
    expect(offeredOn('repository/two')).toEqual(['rootful', 'roothide']);
    // What it has for all of them is for those alone that it has something else for.
    expect(offeredOn('repository/four')).toEqual(['rootful']);
    expect(offeredOn('section/text')).toEqual([]);
  });

  it('is forgotten when asked, and a search keeps the address that was shared', async () => {
    const page = await open('/search/?q=snow&ios=16.7&build=rootless');
    await page.locator('#results .name').first().waitFor();
    await page.getByLabel('Search packages').fill('snow n');
    await expect.poll(() => new URL(page.url()).search).toBe('?q=snow+n&ios=16.7&build=rootless');
    await page.locator('#device-bar summary').click();
    await page.getByRole('button', { name: 'Forget' }).click();
    expect(new URL(page.url()).search).toBe('?q=snow+n');
    expect(await barOf(page)).toBe('Which iPhone? See what runs on yours');
    expect(Object.values(await verdicts(page, '#results')).filter((words) => words !== '')).toEqual([]);
    expect(await page.evaluate("localStorage.getItem('device')")).toBe(null);
  });

  it('is asked for again where what was typed is no version, which is said', async () => {
    const page = await open('/');
    await page.locator('#device-bar summary').click();
    await page.getByLabel('Jailbreak').selectOption('rootless');
    for (const ios of ['', 'seventeen', '17.', '17.1.1.1', '100', '127', '-1']) {
      // What is wrong is said of what is typed, until something else is.
      await page.getByLabel('iOS', { exact: true }).fill('17.1');
      expect(await page.locator('#device input:invalid').count(), ios).toBe(0);
      await page.getByLabel('iOS', { exact: true }).fill(ios);
      await page.getByRole('button', { name: 'Show what runs' }).click();
      await page.locator('#device input:invalid').waitFor();
      expect(await page.evaluate("localStorage.getItem('device')"), ios).toBe(null);
    }
  });

  it('that is none, in an address or in the browser, counts as none', async () => {
    const page = await open('/');
    for (const asked of [
      '/?ios=16.7',
      '/?ios=16.7&build=constructor',
      '/?ios=<b>&build=rootless',
      '/?ios=16.7&build=all',
    ]) {
      await page.goto(server.base + asked);
      expect(await barOf(page), asked).toBe('Which iPhone? See what runs on yours');
    }
    await page.goto(`${server.base}/`);
    for (const kept of ['', '16.7', 'x y z', '16.7 __proto__', ' rootless']) {
      await page.evaluate(`localStorage.setItem('device', ${JSON.stringify(kept)})`);
      await page.reload();
      expect(await barOf(page), kept).toBe('Which iPhone? See what runs on yours');
    }
  });

  it('groups the results of a search: what by its own words does not run there comes last', async () => {
    const page = await open('/search/?q=snow&ios=16.7&build=rootless');
    await page.locator('#results .misfits').waitFor();
    const items = await page
      .locator('#results > li')
      .evaluateAll((list) => list.map((item) => item.querySelector('.name')?.textContent ?? '-'));
    expect(items.indexOf('-')).toBe(6);
    expect(items.slice(7).sort()).toEqual(['Snow Desktop', 'Snow Elsewhere (iOS 11)', 'Snow New']);
  });
});

describe('the bar', () => {
  const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

  it.each([
    ['a phone', phone],
    ['a desktop', {}],
  ])(
    'open and closed, has no violation that axe knows and fits %s, in both themes and with letters twice as large',
    async (_, options) => {
      const page = await open('/package/com.example.snowboth/?ios=16.7&build=rootless', {
        ...options,
        bypassCSP: true,
      });
      await page.evaluate(axe);
      /** By all rules or by those of some kinds, of the whole page or of what the bar changes of it. */
      const look = async (what: string, of: object = [['#device-bar'], ['.for-device']], kinds?: readonly string[]) => {
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), what).toBeLessThanOrEqual(0);
        const asked = JSON.stringify({ resultTypes: ['violations'], preload: false, ...(kinds && { runOnly: kinds }) });
        const found = await page.evaluate(`axe.run(${JSON.stringify(of)}, ${asked}).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html).join(' | ')))`);
        expect(found, what).toEqual([]);
      };
      const dark = async (what: string) => {
        await page.emulateMedia({ colorScheme: 'dark' });
        await look(what, undefined, ['color-contrast']);
        await page.emulateMedia({ colorScheme: 'light' });
      };
      await look('closed, light');
      await dark('closed, dark');
      await page.locator('#device-bar summary').click();
      // The rest of a page has a test of its own, without a device, and stays as it is.
      await look('open, light', options === phone ? { exclude: [] } : undefined);
      await dark('open, dark');
      // Where things lie and whether they scroll, and neither names nor colours.
      const moved = ['cat.sensory-and-visual-cues', 'cat.keyboard'];
      await page.addStyleTag({ content: 'html { font-size: 200% }' });
      await look('open, letters twice as large', undefined, moved);
      await page.locator('#device-bar summary').click();
      await look('closed, letters twice as large', undefined, moved);
    },
  );

  it('is worked by keys alone, and Escape closes it', async () => {
    const page = await open('/');
    await page.locator('#device-bar summary').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('15.8.3');
    await page.keyboard.press('Enter');
    await settle(page);
    expect(await barOf(page)).toBe('iOS 15.8.3 · rootless');
    expect(await page.locator('#device').isVisible()).toBe(false);
    await page.keyboard.press('Enter');
    expect(await page.locator('#device').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.locator('#device').isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
    // The ring lies within the bar, whose neighbours would cover it.
    const ring = 'getComputedStyle(document.activeElement)';
    expect(await page.evaluate(`[${ring}.outlineWidth, ${ring}.outlineOffset]`)).toEqual(['3px', '-3px']);
  });

  it('asks for the page of the device where its script cannot be loaded, and keeps what was typed where it comes late', async () => {
    const page = await open('/?ios=17.0&build=rootless');
    const load = await holdRequests(page, '**/device-form*.js');
    await page.locator('#device-bar summary').click();
    await page.locator('#device input').fill('15.8.3');
    await page.locator('#device button[type=submit]').click();
    load();
    await page.waitForURL(/ios=15\.8\.3/);
    expect(await barOf(page)).toBe('iOS 15.8.3 · rootless');

    const other = await open('/');
    await other.route('**/device-form*.js', (route) => route.abort());
    await other.locator('#device-bar summary').click();
    await other.locator('#device input').fill('16.7');
    await other.locator('#device button[type=submit]').click();
    await other.waitForURL(/ios=16\.7/);
    expect(await barOf(other)).toBe('iOS 16.7 · rootless');
  });

  it('keeps the scripts of every page within 8 kB and its first view within 30 kB, as they are sent', () => {
    const sizes = new Map<string, number>();
    const sizeOf = (file: string): number => {
      const known = sizes.get(file) ?? gzipSync(readFileSync(path.join(out, file))).length;
      sizes.set(file, known);
      return known;
    };
    const sum = (files: Iterable<string>) => [...new Set(files)].reduce((all, file) => all + sizeOf(file), 0);
    const named = (html: string, pattern: RegExp) => Array.from(html.matchAll(pattern), ([, name = '']) => name);
    const pages = globSync('**/*.html', { cwd: out });
    expect(pages).toEqual(expect.arrayContaining(['index.html', 'search/index.html', 'status/index.html', '404.html']));
    for (const file of pages) {
      const html = readFileSync(path.join(out, file), 'utf8');
      const scripts = named(html, /<script[^>]* src="\/([^"]+)"/g);
      expect(scripts.length, file).toBeGreaterThan(0);
      const imported = scripts.flatMap((name) =>
        named(readFileSync(path.join(out, name), 'utf8'), /from"\.\/([^"]+)"/g).map((other) =>
          path.join(path.dirname(name), other),
        ),
      );
      const seen = named(html, /<(?:link[^>]* href="\/(?=[^"]+\.css)|img[^>]* src="\/(?!\/))([^"]+)"/g);
      const all = [...scripts, ...imported];
      expect(sum(all), file).toBeLessThan(8 * 1024);
      // The reference holds an answer and addresses of the index, which a real one has longer.
      const left = file === 'api/index.html' ? 1024 : 0;
      expect(sum([file, ...seen, ...all]), file).toBeLessThan(30 * 1024 - left);
    }
  });
});
