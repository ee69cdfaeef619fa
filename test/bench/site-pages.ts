import { createServer } from 'node:net';
import lighthouse from 'lighthouse';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { type StaticServer, serveFolder } from '../support/static-server.ts';
import { type Figure, milliseconds } from './report.ts';
import { median } from './statistics.ts';
import { tell } from './workshop.ts';

/** Pages that are looked at, by name, each with its address. */
export type PageKinds = Readonly<Record<'landing' | 'search' | 'repository' | 'package', string>>;

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

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

const measureWeight = async (browser: Browser, server: StaticServer, name: string, where: string): Promise<Figure> => {
  const context = await browser.newContext(phone);
  await context.route('**/*', (route) =>
    route.request().url().startsWith(server.base) ? route.continue() : route.abort(),
  );
  const page = await context.newPage();
  server.sent = 0;
  let script = 0;
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script') script += Number(response.headers()['content-length'] ?? 0);
  });
  await page.goto(server.base + where, { waitUntil: 'networkidle' });
  await context.close();
  return {
    figure: `first view of the ${name} page`,
    input,
    measured: `${kilobytes(server.sent)} compressed, script ${kilobytes(script)}`,
    target: '≤ 60 kB, script ≤ 15 kB',
    met: server.sent <= 60_000 && script <= 15_000,
  };
};

const scores = ['performance', 'accessibility', 'best-practices', 'seo'] as const;

const measureLighthouse = async (port: number, base: string, name: string, where: string): Promise<Figure> => {
  tell(`Lighthouse: ${name}`);
  const result = await lighthouse(base + where, { port, logLevel: 'silent', onlyCategories: [...scores] });
  const measured = scores.map((score) => Math.round(100 * (result?.lhr.categories[score]?.score ?? 0)));
  return {
    figure: `Lighthouse, phone: ${name} page`,
    input,
    measured: measured.map((score, index) => `${scores[index]} ${score}`).join(', '),
    target: '≥ 95 each',
    met: measured.every((score) => score >= 95),
  };
};

// Types a word into the search box of the landing page: milliseconds from each character to the list that answers it.
const typing = `(async (word) => {
  const field = document.querySelector('[role=combobox]');
  const list = document.querySelector('#suggestions');
  const times = [];
  field.focus();
  for (let length = 2; length <= word.length; length++) {
    const start = performance.now();
    const drawn = new Promise((resolve) => {
      new MutationObserver((_, observer) => { observer.disconnect(); resolve(); }).observe(list, { childList: true });
    });
    field.value = word.slice(0, length);
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await drawn;
    times.push(performance.now() - start);
  }
  return times;
})`;

const measureSearch = async (browser: Browser, server: StaticServer, words: readonly string[]): Promise<Figure[]> => {
  const first: number[] = [];
  const later: number[] = [];
  for (const word of words) {
    // A profile of its own for each word, in which nothing is loaded yet.
    const context = await browser.newContext(phone);
    const page = await context.newPage();
    await page.goto(server.base, { waitUntil: 'networkidle' });
    const [loading = 0, ...rest] = (await page.evaluate(`${typing}(${JSON.stringify(word)})`)) as number[];
    first.push(loading);
    later.push(...rest);
    await context.close();
  }
  const figure = (text: string, times: readonly number[], most: number): Figure => ({
    figure: text,
    input,
    measured: `${milliseconds(Math.max(...times))} at most, ${milliseconds(median(times))} median of ${times.length}`,
    target: `≤ ${most} ms`,
    met: Math.max(...times) <= most,
  });
  return [
    figure('search: first results, loading included', first, 300),
    figure('search: each later character', later, 50),
  ];
};

/** Takes the figures of a built site in a real browser: weights, answers of the search box, Lighthouse. */
export const measurePages = async (out: string, pages: PageKinds, words: readonly string[]): Promise<Figure[]> => {
  const server = await serveFolder(out);
  const port = await freePort();
  const browser = await launchBrowser([`--remote-debugging-port=${port}`]);
  try {
    tell('weights and search in the browser');
    const figures: Figure[] = [];
    for (const name of ['landing', 'repository', 'package'] as const) {
      figures.push(await measureWeight(browser, server, name, pages[name]));
    }
    figures.push(...(await measureSearch(browser, server, words)));
    for (const [name, where] of Object.entries(pages)) {
      figures.push(await measureLighthouse(port, server.base, name, where));
    }
    return figures;
  } finally {
    await browser.close();
    await server.close();
  }
};
