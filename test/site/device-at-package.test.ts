import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { openBuiltIndex } from '../support/file-index.ts';
import { catalogPath, choose, desktop, open, out, server, useDeviceSite, verdicts } from './device-site.ts';

useDeviceSite();

/** Adds up how much of what is seen on a page moves without being asked to (Layout Instability). */
const noteMoves = `
  window.moved = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) window.moved += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

describe('C14: the device of the visitor at a package', () => {
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

  it('leads to older versions that allow its iOS where of the latest only one of another repository may, which says nothing', async () => {
    const page = await open('/package/com.example.grown/');
    await choose(page, '13.5', 'rootful');
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Rootful, iOS not stated');
    const lead = page.locator('#runs-on a');
    expect(await lead.allTextContents()).toEqual(['older versions']);
    await lead.click();
    expect(await page.locator('#older table').textContent()).toMatch(/1\.2[\s\S]*iOS 13 or newer/);
    expect(await page.locator('#older table').isVisible()).toBe(true);
  });

  it('leads from the verdict that no latest version is for it to the newest older one that is', async () => {
    const page = await open('/package/com.example.aged/?ios=14.8&build=rootful');
    const verdict = page.locator('.for-device .verdict');
    const isOpen = () => page.locator('#older').evaluate((older) => older.hasAttribute('open'));
    expect(await verdict.textContent()).toBe('Rules out iOS 14.8. Version 3.0 allows it');
    await page.evaluate("document.querySelector('#older').open = false");
    await choose(page, '13.0', 'rootful');
    expect(await verdict.textContent()).toBe('Rules out iOS 13.0. Version 2.0 allows it');
    const link = verdict.getByRole('link');
    const led = async () => page.locator((await link.getAttribute('href')) ?? '').allInnerTexts();
    expect(await led()).toEqual([expect.stringMatching(/^2\.0\s/)]);
    expect(await isOpen()).toBe(true);
    await choose(page, '14.8', 'rootful');
    expect(await led()).toEqual([expect.stringMatching(/^3\.0\s/)]);
    // That one states nothing of any iOS.
    await choose(page, '11.0', 'rootful');
    expect(await verdict.textContent()).toBe('Rules out iOS 11.0');
    await choose(page, '14.8', 'rootless');
    expect(await verdict.textContent()).toBe('Your iPhone cannot install it as it is: there is a rootful build only.');
    await choose(page, '16.0', 'rootful');
    expect(await verdict.textContent()).toBe('Runs here');
  });

  it('leads to the newest older version of all repositories and names its repository, if there are several', async () => {
    const page = await open('/package/com.example.passed/?ios=14.8&build=rootful');
    const verdict = page.locator('.for-device .verdict');
    expect(await verdict.textContent()).toBe('Rules out iOS 14.8. Version 1.5 in two repository allows it');
    const versions = await page.locator('#older .version').allInnerTexts();
    expect(versions.map((one) => one.trim())).toEqual(['1.5', '1.0']);
    await verdict.getByRole('link').click();
    expect(await page.locator('tr:target .version').innerText()).toMatch(/^1\.5/);
  });

  it('calls for no manager where the package says that it does not run on the device', async () => {
    const page = await open('/package/com.example.snownew/');
    const called = () => page.locator('#install .primary').allTextContents();
    expect(await called()).toHaveLength(1);
    await choose(page, '16.1', 'rootless');
    expect(await page.locator('.verdict').first().textContent()).toBe('Rules out iOS 16.1');
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
    expect(await told()).toEqual(['Rules out iOS 15.1', false]);
    await page.locator('#device-bar summary').click();
    await page.getByRole('button', { name: 'Forget' }).click();
    expect([await line.count(), await page.locator('#install .primary').count()]).toEqual([0, 1]);
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
    expect(await page.locator('.for-device .verdict').textContent()).toBe('Rules out iOS 16.7');
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
    expect(await page.locator('.built-for li').textContent()).toMatch(/^\s*Any build\s*all\s*$/);
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

  it('has the version of a build that is not at the newest one, which stands beside the name', async () => {
    const page = await open('/package/com.example.snowboth/');
    expect(await page.locator('.edition .version').innerText()).toMatch(/1\.1$/);
    expect((await page.locator('.built-for li').allInnerTexts()).map((one) => one.split(/\s+/).join(' '))).toEqual([
      'Rootful iphoneos-arm still 1.0',
      'Rootless iphoneos-arm64',
    ]);
  });

  it('is of no build where nothing is for such devices: of a package for all architectures, and of a whole index', async () => {
    const page = await open('/package/com.example.manual/');
    expect(await page.locator('.built-for li').textContent()).toMatch(/^\s*Any architecture\s*all\s*$/);
    expect(await page.locator('.downloads').innerText()).toMatch(/^Download \(any architecture\)/);
    const first = (folder: string) => readFileSync(path.join(folder, 'index.html'), 'utf8');
    expect(first(out)).toMatch(/content="Search [^"]* and open them in your package manager\.".*<h1>Find a tweak\./s);
    expect(first(desktop)).toMatch(/content="Search 1 package of 1 APT repository\.".*<h1>Find a package\./s);
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
      'It needs two repositories: add both. Snow New (rootless only) is in one repository.',
    );
    expect(
      await buttons.evaluateAll((all) => all.map((one) => [one.textContent?.trim(), one.getAttribute('href')])),
    ).toEqual([
      ['Add four repository', '/repository/four/'],
      ['Add one repository', '/repository/one/'],
    ]);
    expect(await adding.count()).toBe(0);
  });

  it('stands in the rows of the index of the files, which finds what is for all by what its repository serves', async () => {
    const catalog = new SiteCatalog(catalogPath);
    const index = await openBuiltIndex(catalog);
    catalog.close();
    const all = await index.find('');
    const rows = await index.rows(all);
    expect(rows.find(({ id }) => id === 'com.example.snowboth')).toMatchObject({
      version: '1.1',
      architectures: ['iphoneos-arm', 'iphoneos-arm64'],
      runs: 'rootful=13.0-15.0;rootless=15.0-16.8',
    });
    const idsFor = async (architecture: string) =>
      (await index.rows(await index.filter(all, { architecture }))).map(({ id }) => id);
    expect(await idsFor('iphoneos-arm64')).toContain('com.example.snoweverywhere');
    expect(await idsFor('iphoneos-arm')).toContain('com.example.snoweverywhere');
    expect(await idsFor('iphoneos-arm64e')).not.toContain('com.example.snoweverywhere');
  });

  it('leaves out who is for no such device, and an index without them says nothing of devices', async () => {
    const page = await open('/package/com.example.snowdesktop/');
    expect(await page.getByRole('region', { name: 'What it runs on' }).count()).toBe(0);
    for (const name of ['index.html', 'package/com.example.snowdesktop/index.html']) {
      expect(readFileSync(path.join(desktop, name), 'utf8'), name).not.toMatch(/device-bar|data-runs/);
    }
    // When the first package for a device comes, every page asks.
    const unchanged = 'privacy/index.html';
    expect(readFileSync(path.join(desktop, unchanged), 'utf8')).not.toContain('device-bar');
    expect(readFileSync(path.join(out, unchanged), 'utf8')).toContain('device-bar');
  });
});
