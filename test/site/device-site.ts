import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { publishSite } from '../../src/pipeline/site-step.ts';
import { launchBrowser } from '../support/browser.ts';
import { makeOnce } from '../support/once-in-run.ts';
import { type StaticServer, serveFolder } from '../support/static-server.ts';
import { type Source, stanza, writeCatalog } from './fixture.ts';

const at = '2026-11-18T10:00:00.000Z';
const source = (slug: string, packages: string, ranking = 2): Source => ({
  entry: { slug, uri: `https://${slug}.example/`, ranking },
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
      tweak('Grown', {
        Section: 'Utilities',
        Architecture: 'iphoneos-arm',
        Depends: 'firmware (>= 14.0)',
        Version: '2.0',
      }),
      tweak('Grown', {
        Section: 'Utilities',
        Architecture: 'iphoneos-arm',
        Depends: 'firmware (>= 13.0)',
        Version: '1.2',
      }),
      ...['firmware (>= 16.0)', 'firmware (>= 14.0), firmware (<< 16.0)', 'firmware (>= 12.0)', ''].map(
        (Depends, age) =>
          tweak('Aged', { Section: 'Utilities', Architecture: 'iphoneos-arm', Depends, Version: `${4 - age}.0` }),
      ),
      ...[
        { Depends: 'firmware (>= 16.0)', Version: '2.0', Architecture: 'iphoneos-arm' },
        { Depends: 'firmware (<< 15.0)', Version: '1.0', Architecture: 'iphoneos-arm' },
      ].map((fields) => tweak('Passed', { Section: 'Utilities', ...fields })),
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
    }) +
      tweak('Split', { Section: 'Networking', Architecture: 'iphoneos-arm64e', Depends: 'firmware (>= 16.0)' }) +
      [
        { Depends: 'firmware (>= 16.0)', Version: '1.8' },
        { Depends: 'firmware (<< 15.0)', Version: '1.5' },
      ]
        .map((fields) => tweak('Passed', { Section: 'Utilities', Architecture: 'iphoneos-arm', ...fields }))
        .join(''),
    // Its versions come after all others.
    3,
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
      tweak('Grown', { Section: 'Utilities', Architecture: 'iphoneos-arm' }) +
      tweak('Guide', { Section: 'Utilities', Architecture: 'all', Depends: 'com.example.snownew' }),
  ),
  // For other systems: what is for all of them is for none of these devices.
  source(
    'desktop',
    tweak('Manual', { Section: 'Text', Architecture: 'all' }) +
      tweak('Server', { Section: 'Text', Architecture: 'amd64' }),
  ),
];

const outIn = (folder: string): string => path.join(folder, 'out');
const desktopIn = (folder: string): string => path.join(folder, 'desktop');
const catalogOf = (outDir: string): string => `${outDir}.sqlite`;

const publish = async (folder: string): Promise<void> => {
  const build = async (outDir: string, from: readonly Source[]): Promise<void> => {
    await writeCatalog(catalogOf(outDir), from, 'https://index.example');
    await publishSite({
      catalogPath: catalogOf(outDir),
      outDir,
      cacheDir: path.join(folder, 'cache'),
      baseUrl: 'https://index.example',
    });
  };
  await build(desktopIn(folder), [source('one', tweak('Snow Desktop', { Architecture: 'amd64' }))]);
  // What was rendered before the first package for a device came.
  await build(outIn(folder), sources);
};

/** The output folder of the site, which all files of a run share: for reading. */
export let out = '';
/** That of a site with nothing for a device, likewise, from before. */
export let desktop = '';
/** The catalog of the site. */
export let catalogPath = '';
export let server: StaticServer;
let browser: Browser;
let context: BrowserContext | undefined;
/** A page that one test after another begins anew: a new one is a process that starts. */
let kept: Page | undefined;
let isKeptInUse = false;
let mistakes: string[] = [];

/** Has the tests of a file look at a site of packages that state something of devices, and holds them to pages on which nothing went wrong. */
export const useDeviceSite = (): void => {
  beforeAll(async () => {
    const folder = await makeOnce(tmpdir(), 'site-for-devices', publish);
    out = outIn(folder);
    desktop = desktopIn(folder);
    catalogPath = catalogOf(out);
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
    kept = undefined;
  });
};

/** Begins a profile anew that a test before has used, before any script of the page runs. */
const forget = `if (window.name === 'used') { localStorage.clear(); sessionStorage.clear(); window.name = ''; }`;

const openPage = async (of: BrowserContext): Promise<Page> => {
  const page = await of.newPage();
  page.on('pageerror', (error) => mistakes.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) mistakes.push(message.text());
  });
  return page;
};

/** Opens another page of the same profile, or the first of one that holds nothing: of its own where it has options. */
export const open = async (address: string, options?: BrowserContextOptions): Promise<Page> => {
  const screen = { viewport: { width: 1280, height: 900 } };
  if (kept === undefined) {
    kept = await openPage(await browser.newContext(screen));
    await kept.addInitScript(forget);
  }
  let page = kept;
  if (options !== undefined && context === undefined) context = await browser.newContext({ ...screen, ...options });
  if (context !== undefined || isKeptInUse) page = await openPage(context ?? kept.context());
  else isKeptInUse = true;
  await page.goto(server.base + address);
  return page;
};

/** Ends what was opened: what is opened after it holds nothing again. */
export const endVisit = async (): Promise<void> => {
  await context?.close();
  context = undefined;
  isKeptInUse = false;
  const [first, ...others] = kept?.context().pages() ?? [];
  for (const page of others) await page.close();
  await first?.unrouteAll({ behavior: 'ignoreErrors' });
  await first?.evaluate("window.name = 'used'");
};

/** Until the form was taken, or says what is wrong with it. */
export const settle = (page: Page) =>
  page.locator('#device-bar:not([open]), #device-bar:has(input:invalid)').waitFor({ state: 'attached' });
/** Says what device one has, in the bar. */
export const choose = async (page: Page, ios: string, build: string) => {
  await page.locator('#device-bar summary').click();
  await page.getByLabel('iOS', { exact: true }).fill(ios);
  await page.getByLabel('Jailbreak').selectOption(build);
  await page.getByRole('button', { name: 'Show what runs' }).click();
  await settle(page);
};
/** What the bar calls the device, or asks. */
export const barOf = async (page: Page) =>
  (await page.locator('[data-device-name]').textContent())?.replace('\u00a0', ' ');
/** What the rows of a list say of the device, by the names of packages. */
export const verdicts = async (page: Page, within: string): Promise<Record<string, string>> =>
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
