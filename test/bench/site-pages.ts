import { createServer } from 'node:net';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { serveFolder } from '../support/static-server.ts';
import { lighthouseFolder, loadLighthouse } from './lighthouse.ts';
import { startPictureHost } from './picture-host.ts';
import { type Figure, milliseconds } from './report.ts';
import { median, percentile } from './statistics.ts';
import { tell } from './workshop.ts';

/** The pages to measure, by name, with their addresses. */
export type PageKinds = Readonly<Record<'landing' | 'search' | 'results' | 'repository' | 'package', string>>;

const input = 'corpus';
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true } as const;

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;

/**
 * What a phone loads of a page before anything is done with it. Without a target, what a page goes on to load by itself
 * counts as well.
 */
const measureWeight = async (
  browser: Browser,
  base: string,
  name: string,
  where: string,
  hasTarget = true,
): Promise<Figure> => {
  const context = await browser.newContext(phone);
  await context.route('**/*', (route) => (route.request().url().startsWith(base) ? route.continue() : route.abort()));
  const page = await context.newPage();
  const loaded: Promise<readonly [kind: string, bytes: number]>[] = [];
  page.on('requestfinished', (request) => {
    const sizes = request.sizes().then(({ responseBodySize }) => [request.resourceType(), responseBodySize] as const);
    loaded.push(sizes);
  });
  await page.goto(base + where, { waitUntil: 'networkidle' });
  const sizes = await Promise.all(loaded);
  await context.close();
  const sum = (some: typeof sizes) => some.reduce((all, [, bytes]) => all + bytes, 0);
  const [all, script] = [sum(sizes), sum(sizes.filter(([kind]) => kind === 'script'))];
  return {
    figure: `first view of the ${name} page`,
    input,
    measured: `${kilobytes(all)} compressed, script ${kilobytes(script)}`,
    ...(hasTarget && { target: '≤ 30 KiB, script ≤ 8 KiB', met: all <= 30 * 1024 && script <= 8 * 1024 }),
  };
};

const scores = ['performance', 'accessibility', 'best-practices', 'seo'] as const;

// Results of a query ask search engines to stay away, which is what the score of a page that wants to be found is about.
const scoresOf = (name: string) => scores.filter((score) => name !== 'results' || score !== 'seo');

const measureLighthouse = async (port: number, base: string, pages: PageKinds): Promise<Figure[]> => {
  const target = '100 each';
  const lighthouse = await loadLighthouse();
  if (lighthouse === undefined) {
    const measured = `not measured: npm ci --prefix ${path.relative(process.cwd(), lighthouseFolder)} brings it`;
    return [{ figure: 'Lighthouse, phone', input, measured, target }];
  }
  const figures: Figure[] = [];
  for (const [name, where] of Object.entries(pages)) {
    tell(`Lighthouse: ${name}`);
    const own = scoresOf(name);
    const result = await lighthouse(base + where, { port, logLevel: 'silent', onlyCategories: own });
    const measured = own.map((score) => Math.round(100 * (result?.lhr.categories[score]?.score ?? 0)));
    figures.push({
      figure: `Lighthouse, phone: ${name} page`,
      input,
      measured: measured.map((score, index) => `${own[index]} ${score}`).join(', '),
      target,
      met: measured.every((score) => score === 100),
    });
  }
  return figures;
};

/** A phone some years old: its processor is a quarter as fast, and it may have a mobile network. */
interface Profile {
  readonly name: string;
  /** Milliseconds from a request to its answer. */
  readonly latency: number;
}
const profiles: readonly Profile[] = [
  { name: 'processor 4 times slower', latency: 0 },
  { name: 'the same, network of 70 ms and 12 Mbit/s', latency: 70 },
];
const bytesPerSecond = 12e6 / 8;

const slowDown = async (page: Page, { latency }: Profile): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  if (latency > 0) {
    const throughput = { downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond };
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', { offline: false, latency, ...throughput });
  }
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
};

// Types a word into the search field of the landing page, a letter every fifth of a second. Measures the milliseconds
// from each letter, beginning with the second, to the list that answers it.
const typing = `(async (word) => {
  const field = document.querySelector('[role=combobox]');
  const list = document.querySelector('#suggestions');
  const write = (text) => {
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
  const times = [];
  field.focus();
  await pause();
  write(word.slice(0, 1));
  for (let length = 2; length <= word.length; length++) {
    await pause();
    const start = performance.now();
    const drawn = new Promise((resolve) => {
      new MutationObserver((_, observer) => { observer.disconnect(); resolve(); }).observe(list, { childList: true });
    });
    write(word.slice(0, length));
    await drawn;
    times.push(performance.now() - start);
  }
  return times;
})`;

const measureSearch = async (
  browser: Browser,
  base: string,
  words: readonly string[],
  profile: Profile,
  host: string,
): Promise<Figure[]> => {
  const first: number[] = [];
  const later: number[] = [];
  for (const word of words) {
    // A profile of its own for each word, so that nothing has been loaded before.
    const context = await browser.newContext(phone);
    const page = await context.newPage();
    await slowDown(page, profile);
    await page.goto(base, { waitUntil: 'networkidle' });
    const [loading = 0, ...rest] = (await page.evaluate(`${typing}(${JSON.stringify(word)})`)) as number[];
    first.push(loading);
    later.push(...rest);
    await context.close();
  }
  const measured = (times: readonly number[]) =>
    `${milliseconds(median(times))} median, ${milliseconds(percentile(times, 0.99))} p99 of ${times.length}`;
  return [
    {
      figure: `first suggestion, ${host}; ${profile.name}`,
      input,
      measured: measured(first),
      target: '≤ 100 ms at the median',
      met: median(first) <= 100,
    },
    {
      figure: `later letters, ${host}; ${profile.name}`,
      input,
      measured: measured(later),
      target: '≤ 50 ms at p99',
      met: percentile(later, 0.99) <= 50,
    },
  ];
};

/**
 * Measures a built site in a real browser: weights, answers of the search field, Lighthouse. Weights and Lighthouse see it
 * as the server at `computing` serves it, and the search is measured with both. `many`: the address of a search with more
 * results than are shown at first.
 */
export const measurePages = async (
  out: string,
  computing: string,
  pages: PageKinds,
  many: string,
  words: readonly string[],
): Promise<Figure[]> => {
  const server = await serveFolder(out);
  const port = await freePort();
  const others = await startPictureHost();
  const browser = await launchBrowser([`--remote-debugging-port=${port}`, ...others.flags]);
  try {
    tell('weights and search in the browser');
    const figures: Figure[] = [];
    for (const name of ['landing', 'search', 'results', 'repository', 'package'] as const) {
      figures.push(await measureWeight(browser, computing, name, pages[name]));
    }
    // Most packages of the corpus are for older devices. Where few of the first are for the device, others are looked for.
    const [older, newer] = [`${many}&ios=14.3&build=rootful`, `${many}&ios=16.7&build=rootless`];
    figures.push(await measureWeight(browser, computing, 'many results (for the iPhone that is set)', older));
    figures.push(await measureWeight(browser, computing, 'many results (few for the iPhone)', newer, false));
    for (const profile of profiles) {
      figures.push(...(await measureSearch(browser, computing, words, profile, 'with the function')));
      figures.push(...(await measureSearch(browser, server.base, words, profile, 'files alone')));
    }
    // The site was built for a host with the function: where none answers, its search page logs one 404.
    figures.push(...(await measureLighthouse(port, computing, pages)));
    return figures;
  } finally {
    await browser.close();
    await others.close();
    await server.close();
  }
};
