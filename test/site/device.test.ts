import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { publishSite } from '../../src/pipeline/site-step.ts';
import { readCard } from '../../src/results/search-content.ts';
import { statedLists } from '../../src/results/stated-lists.ts';
import { composeSearchRecords } from '../../src/site/pagefind-index.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { launchBrowser } from '../support/browser.ts';
import { type StaticServer, serveFolder } from '../support/static-server.ts';
import { type Source, stanza, temporaryFolder, writeCatalog } from './fixture.ts';

const at = '2026-11-18T10:00:00.000Z';
const source = (slug: string, packages: string): Source => ({
  entry: { slug, uri: `https://${slug}.example/`, ranking: 2 },
  release: `Origin: ${slug} repository\n`,
  at,
  packages,
});

const tweak = (Name: string, fields: Record<string, string>) =>
  stanza({ Package: `com.example.${Name.toLowerCase().replace(/[^a-z]/g, '')}`, Name, Section: 'Tweaks', ...fields });

const sources = [
  source(
    'one',
    [
      tweak('Snow Both', {
        Architecture: 'iphoneos-arm',
        Depends: 'firmware (>= 13.0), firmware (<< 15.0)',
        Version: '1.0',
        Size: '262000',
      }),
      tweak('Snow Both', { Depends: 'ellekit, firmware (>= 15.0)', Tag: 'compatible_max::ios16.7', Version: '1.1' }),
      tweak('Snow Old', { Architecture: 'iphoneos-arm', Description: 'Falls. Supports iOS 6 - 10' }),
      tweak('Snow New', { Depends: 'firmware (>= 17.0)' }),
      tweak('Snow Silent', { Description: 'Falls like snow on iOS 11' }),
      tweak('Snow Named (iOS 15 - 17)', {}),
      tweak('Snow Elsewhere (iOS 11)', {}),
      tweak('Snow Everywhere', { Architecture: 'all', Depends: 'firmware (>= 12.0)' }),
      tweak('Snow Desktop', { Architecture: 'amd64' }),
      tweak('Split', { Section: 'Networking', Architecture: 'iphoneos-arm', Depends: 'firmware (<< 15.0)' }),
      tweak('Split', { Section: 'Networking', Depends: 'firmware (>= 16.0)' }),
      tweak('Snow<b>Bold</b>', { Depends: 'firmware (>= 14.0) | firmware (<< 2), <script>alert(1)</script>' }),
    ].join(''),
  ),
  source(
    'two',
    tweak('Snow Both', {
      Architecture: 'iphoneos-arm',
      Version: '0.9',
      Depends: 'firmware (>= 13.0), firmware (<< 15.0)',
    }) + tweak('Split', { Section: 'Networking', Architecture: 'iphoneos-arm64e', Depends: 'firmware (>= 16.0)' }),
  ),
  source(
    'three',
    tweak('Snow Old', {}) +
      tweak('Plain', { Section: 'Utilities' }) +
      tweak('Split', { Section: 'Networking', Architecture: 'iphoneos-arm', Depends: 'firmware (>= 14.6)' }) +
      tweak('Split', { Section: 'Networking', Architecture: 'iphoneos-arm64e', Depends: 'firmware (<< 16.0)' }),
  ),
  // What is for all of them there is for rootful devices alone.
  source(
    'four',
    tweak('Plain', { Section: 'Utilities', Architecture: 'iphoneos-arm' }) +
      tweak('Guide', { Section: 'Utilities', Architecture: 'all', Depends: 'com.example.snownew' }),
  ),
  // For other systems: what is for all of them is for none of these devices.
  source(
    'desktop',
    tweak('Manual', { Section: 'Text', Architecture: 'all' }) +
      tweak('Server', { Section: 'Text', Architecture: 'amd64' }),
  ),
];

const { folder, remove } = temporaryFolder();
const out = path.join(folder, 'out');
let server: StaticServer;
let browser: Browser;
let context: BrowserContext | undefined;
/** A page that one test after another begins anew: a new one is a process that starts. */
let kept: Page | undefined;
let isKeptInUse = false;
let mistakes: string[] = [];

const desktop = path.join(folder, 'desktop');
const build = async (outDir: string, from: readonly Source[]): Promise<void> => {
  const catalogPath = `${outDir}.sqlite`;
  await writeCatalog(catalogPath, from, 'https://index.example');
  await publishSite({ catalogPath, outDir, cacheDir: path.join(folder, 'cache'), baseUrl: 'https://index.example' });
};

beforeAll(async () => {
  await build(desktop, [source('one', tweak('Snow Desktop', { Architecture: 'amd64' }))]);
  // What was rendered before the first package for a device came.
  await build(out, sources);
  server = await serveFolder(out);
  browser = await launchBrowser();
}, 120_000);
afterEach(async () => {
  await endVisit();
  expect(mistakes).toEqual([]);
  mistakes = [];
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  remove();
});

/** Begins a profile anew that a test before has used, before any script of the page runs. */
const forget = `if (window.name === 'used') { localStorage.clear(); sessionStorage.clear(); window.name = ''; }`;

/** Adds up how much of what is seen on a page moves without being asked to (Layout Instability). */
const noteMoves = `
  window.moved = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) window.moved += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

const openPage = async (of: BrowserContext): Promise<Page> => {
  const page = await of.newPage();
  page.on('pageerror', (error) => mistakes.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) mistakes.push(message.text());
  });
  return page;
};

/** Opens another page of the same profile, or the first of one that holds nothing: of its own where it has options. */
const open = async (address: string, options?: BrowserContextOptions): Promise<Page> => {
  const desktop = { viewport: { width: 1280, height: 900 } };
  if (kept === undefined) {
    kept = await openPage(await browser.newContext(desktop));
    await kept.addInitScript(forget);
  }
  let page = kept;
  if (options !== undefined && context === undefined) context = await browser.newContext({ ...desktop, ...options });
  if (context !== undefined || isKeptInUse) page = await openPage(context ?? kept.context());
  else isKeptInUse = true;
  await page.goto(server.base + address);
  return page;
};

/** Ends what was opened: what is opened after it holds nothing again. */
const endVisit = async (): Promise<void> => {
  await context?.close();
  context = undefined;
  isKeptInUse = false;
  const [first, ...others] = kept?.context().pages() ?? [];
  for (const page of others) await page.close();
  await first?.unrouteAll({ behavior: 'ignoreErrors' });
  await first?.evaluate("window.name = 'used'");
};

/** Until the form was taken, or says what is wrong with it. */
const settle = (page: Page) =>
  page.locator('#device-bar:not([open]), #device-bar:has(input:invalid)').waitFor({ state: 'attached' });
const choose = async (page: Page, ios: string, build: string) => {
  await page.locator('#device-bar summary').click();
  await page.getByLabel('iOS', { exact: true }).fill(ios);
  await page.getByLabel('Jailbreak').selectOption(build);
  await page.getByRole('button', { name: 'Show what runs' }).click();
  await settle(page);
};
const barOf = (page: Page) => page.locator('[data-device-name]').textContent();
const verdicts = async (page: Page, within: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    await page
      .locator(`${within} .row`)
      .evaluateAll((rows) =>
        rows.map((row) => [
          row.querySelector('.name')?.textContent ?? '',
          row.querySelector('.verdict')?.textContent ?? '',
        ]),
      ),
  );

describe('C14: the device of the visitor', () => {
  it('is asked for once, and every row then says what it states', async () => {
    const page = await open('/section/tweaks/');
    expect(Object.values(await verdicts(page, '.list')).filter((words) => words !== '')).toEqual([]);
    await choose(page, '16.7', 'rootless');
    expect(await barOf(page)).toBe('iOS 16.7 · rootless');
    expect(await verdicts(page, '.list')).toEqual({
      'Snow Both': 'Runs here',
      'Snow Old': 'Rootless, iOS not stated',
      'Snow New': 'Says not on iOS 16.7',
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
    expect(await page.locator('#device p').textContent()).toMatch(/browser\. “Copy link”/);
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

  it('decides which managers and which download stand first, beside the manager that was last used', async () => {
    const page = await open('/package/com.example.snowboth/');
    const managers = () =>
      page
        .locator('#install [data-manager]:visible')
        .evaluateAll((all) =>
          all.map((one) => `${one.getAttribute('data-manager')}${one.classList.contains('primary') ? '!' : ''}`),
        );
    const files = () => page.locator('.downloads .for').allTextContents();
    expect(await managers()).toEqual(['Sileo!', 'Zebra', 'Cydia']);
    const asBuilt = await files();
    expect([...asBuilt].sort()).toEqual(['rootful', 'rootless']);
    await page.evaluate("localStorage.setItem('manager', 'Cydia')");
    await choose(page, '16.1', 'rootless');
    // The last one used installs nothing there.
    expect(await managers()).toEqual(['Sileo!', 'Zebra']);
    expect(await files()).toEqual(['rootless', 'rootful']);
    await choose(page, '14.3', 'rootful');
    expect(await managers()).toEqual(['Cydia!', 'Sileo', 'Zebra']);
    expect(await files()).toEqual(['rootful', 'rootless']);
    // Nothing of it is for such a device: no button is called for.
    await choose(page, '16.1', 'roothide');
    expect(await managers()).toEqual(['Cydia', 'Sileo', 'Zebra']);
    await page.locator('#device-bar summary').click();
    await page.getByRole('button', { name: 'Forget' }).click();
    expect(await managers()).toEqual(['Cydia!', 'Sileo', 'Zebra']);
    expect(await files()).toEqual(asBuilt);
  });

  it('leads from a list to the packages of it that have a build for the device', async () => {
    const page = await open('/section/tweaks/');
    const link = page.getByRole('link', { name: /builds$/ });
    expect(await link.count()).toBe(0);
    await choose(page, '16.7', 'rootless');
    expect(await link.textContent()).toBe('Rootless builds');
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

  it('calls for no manager where the package says that it does not run on the device', async () => {
    const page = await open('/package/com.example.snownew/');
    const called = () => page.locator('#install .primary').allTextContents();
    expect(await called()).toHaveLength(1);
    await choose(page, '16.1', 'rootless');
    expect(await page.locator('.verdict').first().textContent()).toBe('Says not on iOS 16.1');
    expect(await called()).toEqual([]);
    expect(await page.locator('#install [data-manager]:visible').count()).toBeGreaterThan(1);
    await choose(page, '17.0', 'rootless');
    expect(await called()).toHaveLength(1);
  });

  it('is told which repository has its build, where the buttons lead to another', async () => {
    const page = await open('/package/com.example.snowold/?ios=16.7&build=rootless');
    const line = page.locator('#install .of-build:visible');
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Rootless, iOS not stated');
    expect(await line.allInnerTexts()).toEqual(['The rootless build is in three repository, not in one repository.']);
    expect(await line.getByRole('link').getAttribute('href')).toBe('/repository/three/');
    const tops = await Promise.all(
      [line, page.locator('#install [data-manager]').first()].map(async (one) => (await one.boundingBox())?.y ?? 0),
    );
    expect(tops).toEqual([...tops].sort((a, b) => a - b));
    await choose(page, '9.3', 'rootful');
    expect(await line.count()).toBe(0);
    // None has it for that one, which the verdict says.
    await choose(page, '16.7', 'roothide');
    expect(await line.count()).toBe(0);
  });

  it('is told which repository has the build that the verdict is of, and no button is called for that leads to another', async () => {
    const page = await open('/package/com.example.split/');
    const line = page.locator('#install .of-build:visible');
    const told = async () => [
      await page.locator('.for-device .verdict').textContent(),
      (await page.locator('#install .primary').count()) > 0,
      ...(await line.allInnerTexts()),
    ];
    expect(await line.count()).toBe(0);
    // Which states nothing where others have but what the best one has.
    expect(readFileSync(path.join(out, 'package/com.example.snowboth/index.html'), 'utf8')).not.toMatch(
      /data-(own|states)/,
    );
    // The best repository has a build for these, and another has one as well for the second.
    for (const [ios, build] of [
      ['14.3', 'rootful'],
      ['14.8', 'rootful'],
      ['16.7', 'rootless'],
    ] as const) {
      await choose(page, ios, build);
      expect(await told(), build).toEqual(['Runs here', true]);
    }
    await choose(page, '15.1', 'rootful');
    expect(await told()).toEqual([
      'Runs here',
      false,
      'What this page says about your iPhone is true of the rootful build in three repository, not of the one in one repository.',
    ]);
    expect(await line.getByRole('link').getAttribute('href')).toBe('/repository/three/');
    // Several others have a build that it has not, each for other devices.
    for (const [ios, slug] of [
      ['16.1', 'two'],
      ['15.1', 'three'],
    ] as const) {
      await choose(page, ios, 'roothide');
      expect(await told(), ios).toEqual([
        'Runs here',
        false,
        `The RootHide build is in ${slug} repository, not in one repository.`,
      ]);
      expect(await line.getByRole('link').getAttribute('href')).toBe(`/repository/${slug}/`);
    }
    await choose(page, '15.1', 'rootless');
    expect(await told()).toEqual(['Says not on iOS 15.1', false]);
    await page.locator('#device-bar summary').click();
    await page.getByRole('button', { name: 'Forget' }).click();
    expect([await line.count(), await page.locator('#install .primary').count()]).toEqual([0, 1]);
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
    for (const ios of ['', 'seventeen', '17.', '17.1.1.1', '128', '-1']) {
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

  it('reads at the head of a package, in a note, that no build is for it, and which there are', async () => {
    const page = await open('/package/com.example.snowboth/?ios=16.7&build=roothide');
    const note = page.locator('.for-device .verdict');
    expect(await note.textContent()).toBe(
      'Your iPhone cannot install it as it is: there are rootful and rootless builds only.',
    );
    const edgeOf = () =>
      page.evaluate("getComputedStyle(document.querySelector('.for-device .verdict')).borderLeftWidth");
    expect(await edgeOf()).toBe('4px');
    await page.goto(`${server.base}/package/com.example.snowold/`);
    await choose(page, '9.0', 'rootful');
    expect([await note.textContent(), await edgeOf()]).toEqual(['Rootful, names iOS 6 to 10', '0px']);
    await page.goto(`${server.base}/package/com.example.snowsilent/`);
    expect(await note.textContent()).toBe('Your iPhone cannot install it as it is: there is a rootless build only.');
  });

  it.each([
    ['of the address', '?ios=16.7&build=rootless'],
    ['that is kept', ''],
  ])('has room at the head of a package before it is judged there: %s', async (_, query) => {
    const page = await open('/', { viewport: { width: 390, height: 844 } });
    if (query === '') await choose(page, '16.7', 'rootless');
    await page.addInitScript(noteMoves);
    // Behind the first picture, as on a slow line.
    await page.route('**/*.js', async (route) => {
      const painted = "performance.getEntriesByName('first-contentful-paint').length";
      await expect.poll(() => page.evaluate(painted)).toBe(1);
      await route.continue();
    });
    await page.goto(`${server.base}/package/com.example.snowboth/${query}`);
    await page.locator('.verdict').first().waitFor();
    // But for a hair, as what the device is called takes another width than the question.
    expect(await page.evaluate('window.moved')).toBeLessThan(0.001);
  });

  it('is judged at the head of a package, below its name', async () => {
    const page = await open('/package/com.example.snownew/?ios=16.7&build=rootless');
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Says not on iOS 16.7');
  });
});

describe('C14: what a package page states', () => {
  const table = (page: Page) =>
    page
      .getByRole('region', { name: 'What it runs on' })
      .locator('tbody tr')
      .evaluateAll((rows) =>
        rows.map((row) => {
          const [build, ios, said] = row.querySelectorAll('td');
          const parts = [build, ios, ...(said?.querySelectorAll('li, p') ?? [])];
          return parts.map((part) => (part?.textContent ?? '').replace(/\s+/g, ' ').trim());
        }),
      );

  it('stands in a table of builds, with where each statement comes from, without JavaScript too', async () => {
    const page = await open('/package/com.example.snowboth/', { javaScriptEnabled: false });
    expect(await table(page)).toEqual([
      [
        'Rootful iphoneos-arm',
        'iOS 13 to 14',
        'Depends: firmware (>= 13.0)',
        'Depends: firmware (<< 15.0)',
        '1.0, one repository; 0.9, two repository',
      ],
      [
        'Rootless iphoneos-arm64',
        'iOS 15 to 16.7',
        'Depends: firmware (>= 15.0)',
        'Tag: compatible_max::ios16.7',
        '1.1, one repository',
      ],
    ]);
    expect(await page.locator('#device-bar').isVisible()).toBe(false);
    expect(await page.locator('.for-device').isVisible()).toBe(false);
  });

  it('is not stated as a rule, and called so; words are quoted as words', async () => {
    const page = await open('/package/com.example.snowold/', { javaScriptEnabled: false });
    expect(await table(page)).toEqual([
      ['Rootful iphoneos-arm', 'Not stated', 'The text says iOS 6 - 10', '1.0, one repository'],
      ['Rootless iphoneos-arm64', 'Not stated', '1.0, three repository'],
    ]);
  });

  it('takes what is for all architectures for devices where its repository serves them, in rows and on pages alike', async () => {
    const page = await open('/section/text/?ios=16.7&build=rootless');
    expect(await verdicts(page, '.list')).toEqual({ Manual: 'Not for iPhones', Server: 'Not for iPhones' });
    await page.goto(`${server.base}/package/com.example.manual/`);
    expect(await page.getByRole('region', { name: 'What it runs on' }).count()).toBe(0);
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Not for iPhones');
    await page.goto(`${server.base}/package/com.example.snoweverywhere/`);
    expect(await table(page)).toEqual([
      [
        'Any build, in a rootful and rootless repository all',
        'iOS 12 or newer',
        'Depends: firmware (>= 12.0)',
        '1.0, one repository',
      ],
    ]);
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Runs here');
    // Whoever is for devices can be followed.
    expect(existsSync(path.join(out, 'package', 'com.example.snoweverywhere', 'feed.atom'))).toBe(true);
    expect(existsSync(path.join(out, 'package', 'com.example.manual', 'feed.atom'))).toBe(false);
  });

  it('takes what is for all architectures for a build where its repository serves that one, in rows, verdicts and buttons alike', async () => {
    const page = await open('/section/utilities/?ios=16.7&build=rootless');
    const lacking = 'For all builds, in a rootful repository';
    expect(await verdicts(page, '.list')).toMatchObject({ Plain: 'Rootless, iOS not stated', Guide: lacking });
    await page.goto(`${server.base}/search/?q=guide`);
    await page.locator('#results .misfits ~ li').waitFor();
    expect(await verdicts(page, '#results')).toEqual({ Guide: lacking });
    await page.goto(`${server.base}/package/com.example.guide/`);
    const said = () => page.locator('.for-device .verdict').textContent();
    const called = () => page.locator('#install .primary').count();
    expect([await said(), await called()]).toEqual([
      'It may not install on your iPhone: it is for all builds, but in a rootful repository.',
      0,
    ]);
    await choose(page, '14.3', 'rootful');
    expect([await said(), await called()]).toEqual(['Any build, iOS not stated', 1]);
    // Where two builds are served, each is, and the third is not.
    await page.goto(`${server.base}/package/com.example.snoweverywhere/`);
    expect([await said(), await called()]).toEqual(['Runs here', 1]);
    await choose(page, '16.7', 'roothide');
    expect([await said(), await called()]).toEqual([
      'It may not install on your iPhone: it is for all builds, but in a rootful and rootless repository.',
      0,
    ]);
  });

  it('has the size of each build where they differ, and calls what is for all of them a download for any build', async () => {
    const page = await open('/package/com.example.snowboth/');
    const downloadOf = () => page.locator('.facts dt:text-is("Download") + dd');
    const lines = async () => (await downloadOf().innerText()).split('\n').sort();
    expect(await lines()).toEqual(['rootful 262 kB', 'rootless 2.0 kB']);
    await page.goto(`${server.base}/package/com.example.snoweverywhere/`);
    expect(await lines()).toEqual(['2.0 kB']);
    expect(await page.locator('.downloads').innerText()).toMatch(/^Download \(any build\) 2.0 kB$/);
  });

  it('leads to its repository right below the managers, and to each of several that it needs', async () => {
    const page = await open('/package/com.example.snownew/', { viewport: { width: 390, height: 844 } });
    const adding = page.getByRole('link', { name: 'Not found there? Add one repository first' });
    expect(await adding.getAttribute('href')).toBe('/repository/one/');
    const parts = [page.locator('#install [data-manager]').last(), adding, page.locator('.downloads')];
    const tops = await Promise.all(parts.map(async (one) => (await one.boundingBox())?.y ?? Number.NaN));
    expect(tops).toEqual([...tops].sort((a, b) => a - b));
    await page.goto(`${server.base}/package/com.example.guide/`);
    const buttons = page.locator('#needs-more .button');
    expect(await page.locator('#needs-more p').innerText()).toBe(
      'It needs two repositories: add both. Snow New is in one repository.',
    );
    expect(
      await buttons.evaluateAll((all) => all.map((one) => [one.textContent?.trim(), one.getAttribute('href')])),
    ).toEqual([
      ['Add four repository', '/repository/four/'],
      ['Add one repository', '/repository/one/'],
    ]);
    expect(await adding.count()).toBe(0);
  });

  it('stands where the index of the files looks for no words: every field of a record is indexed', () => {
    const catalog = new SiteCatalog(path.join(folder, 'out.sqlite'));
    const records = [...composeSearchRecords(catalog)];
    catalog.close();
    expect(records.length).toBeGreaterThan(8);
    for (const { url, meta, filters } of records) {
      expect(Object.keys(meta)).toEqual(['title', 'id']);
      expect(filters.architecture, meta.id).toEqual([...new Set(filters.architecture)]);
      expect(url.startsWith(`/package/${meta.id}/#`)).toBe(true);
    }
    const both = records.find(({ meta }) => meta.id === 'com.example.snowboth');
    expect(readCard(both?.url ?? '')).toMatchObject({
      version: '1.1',
      kind: 'tweaks',
      architectures: ['iphoneos-arm', 'iphoneos-arm64'],
      runs: 'rootful=13.0-15.0;rootless=15.0-16.8',
    });
    // What is for all of them is found for those that its repository serves.
    const everywhere = records.find(({ meta }) => meta.id === 'com.example.snoweverywhere');
    expect(everywhere?.filters.architecture).toEqual(['all', 'iphoneos-arm', 'iphoneos-arm64']);
  });

  it('leaves out who is for no such device, and an index without them says nothing of devices', async () => {
    const page = await open('/package/com.example.snowdesktop/');
    expect(await page.getByRole('region', { name: 'What it runs on' }).count()).toBe(0);
    const html = readFileSync(path.join(desktop, 'index.html'), 'utf8');
    expect(html).not.toMatch(/device-bar|data-runs/);
    // When the first package for a device comes, every page asks.
    const unchanged = 'privacy/index.html';
    expect(readFileSync(path.join(desktop, unchanged), 'utf8')).not.toContain('device-bar');
    expect(readFileSync(path.join(out, unchanged), 'utf8')).toContain('device-bar');
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
  });

  it('asks for the page of the device where its script cannot be loaded, and keeps what was typed where it comes late', async () => {
    const page = await open('/?ios=17.0&build=rootless');
    let load: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route('**/device-form*.js', async (route) => {
      await asked;
      await route.continue();
    });
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
      expect(sum([file, ...seen, ...all]), file).toBeLessThan(30 * 1024);
    }
  });
});
