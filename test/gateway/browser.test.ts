import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { splitWords } from '../site/browser/split-words.ts';
import { startChromium, takeScreenshot } from '../support/chromium.ts';
import { addAccount, password, startGateway, type TestGateway } from '../support/gateway-session.ts';
import { authenticate, PackageManager, signIn } from '../support/package-manager.ts';

const hour = 3_600_000;
const phone = { viewport: { width: 375, height: 740 }, deviceScaleFactor: 2, hasTouch: true };
const desktop = { viewport: { width: 1280, height: 860 } };

let browser: Browser;
let gateway: TestGateway;
/** The client's callback: a page on loopback that remembers with which address it was called. */
let callback: { server: Server; address: string; called: string[] };
beforeAll(async () => {
  const called: string[] = [];
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/callback')) called.push(request.url);
    response.setHeader('Content-Type', 'text/html').end('<title>Back</title>Back in the application');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  callback = { server, called, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback?kept=1` };
  gateway = await startGateway({
    GATEWAY_OIDC_ISSUER: 'http://127.0.0.1:1',
    GATEWAY_OIDC_CLIENT_ID: 'x',
    GATEWAY_OIDC_CLIENT_SECRET: 'x',
    GATEWAY_OIDC_NAME: 'Example ID',
  });
  await addAccount(gateway.store, 'alice');
  browser = await startChromium();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await gateway.close();
  callback.server.close();
});

const withPage = async (options: BrowserContextOptions, walk: (page: Page, problems: string[]) => Promise<void>) => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  await walk(page, problems);
  await context.close();
};

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Looks at a page by all rules, or by those named. */
const expectAccessible = async (page: Page, runOnly: readonly string[] = everyRule) => {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (rules) => (globalThis as unknown as { axe: typeof axe }).axe.run({ runOnly: [...rules], preload: false }),
    runOnly,
  );
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
  // WCAG 2.2, 1.4.10: nothing has to be scrolled sideways.
  const sizes = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
  const [content, window] = sizes as [number, number];
  expect(content).toBeLessThanOrEqual(window);
};

test('a person signs in with the keyboard, the application uses, refreshes and revokes', async () => {
  await withPage({ ...phone, javaScriptEnabled: false }, async (page, problems) => {
    const client = new PackageManager(gateway.base);
    await page.goto(await authenticate(gateway.base, { callback: callback.address, model: 'iPhone 12 mini' }));
    expect(await page.title()).toMatch(/^Sign in – /);
    await page.getByLabel('Account name').focus();
    await page.keyboard.type('Alice');
    await page.keyboard.press('Tab');
    await page.keyboard.type('not the password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('The account name or the password is wrong.');
    // The keyboard is where the message is, so that a screen reader says it.
    expect(await page.locator(':focus').getAttribute('role')).toBe('alert');
    expect(await page.getByLabel('Account name').inputValue()).toBe('Alice');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Back in the application').waitFor();
    expect(new URL(page.url()).searchParams.get('kept')).toBe('1');
    // A 403 is reported on the console, and nothing else went wrong: no policy stood in the way of the redirect.
    expect(problems.filter((problem) => !problem.includes('403') && !problem.includes('favicon'))).toEqual([]);

    client.callback(page.url());
    expect(callback.called).toHaveLength(1);
    expect(await client.request()).toBe(200);
    gateway.advance(hour);
    expect(await client.request()).toBe(401);
    expect(client.state).toBe('authenticated');
    expect(await client.request()).toBe(200);
    expect(await client.signOut()).toBe(200);
    expect(client.state).toBe('signed out');
  });
});

test('T4 the redirect to an application’s own scheme is not stopped by the policy of the page', async () => {
  await withPage(phone, async (page, problems) => {
    await page.goto(await authenticate(gateway.base));
    await page.getByLabel('Account name').fill('alice');
    await page.getByLabel('Password').fill(password);
    const answer = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const response = await answer;
    expect(response.status()).toBe(303);
    expect(response.headers().location).toMatch(/^sileo:\/\//);
    expect(problems.filter((problem) => /Content Security Policy/.test(problem))).toEqual([]);
  });
});

test('T4 the page cannot be framed', async () => {
  await withPage(desktop, async (page, problems) => {
    await page.goto(callback.address);
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.onload = resolve;
      frame.src = ${JSON.stringify(`${gateway.base}/v2/login`)};
      document.body.append(frame);
    })`);
    expect(problems.join()).toMatch(/frame/i);
    expect(await page.frames()[1]?.content()).not.toContain('Sign in');
  });
});

/** What has no room on the page for all that it says, and words of which it has none for a line. */
const findCramped = `[
  ...[...document.querySelectorAll('html, main :not(form)')]
    .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth)
    .map((one) => one.localName + ' ' + one.textContent),
  ...${splitWords},
]`;

test('every page is accessible, on a phone and a desktop, light and dark, and has room for large letters', async () => {
  await withPage(phone, async (page) => {
    const show = async (name: string) => {
      await page.setViewportSize({ ...phone.viewport, width: 360 });
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      expect(await page.evaluate(findCramped), name).toEqual([]);
      await page.evaluate("document.documentElement.style.fontSize = ''");
      for (const [size, { viewport }] of [
        ['phone', phone],
        ['desktop', desktop],
      ] as const) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          // Of the dark pages nothing but the colours is other.
          await expectAccessible(page, colorScheme === 'dark' ? ['color-contrast'] : everyRule);
          await takeScreenshot(page, `${name}-${size}-${colorScheme}`);
        }
      }
    };
    const authUrl = await authenticate(gateway.base, {
      callback: callback.address,
      model: 'iPhone 12 mini (iPhone13,1)',
    });
    await page.goto(authUrl);
    await show('sign-in-loopback');
    await page.goto(await authenticate(gateway.base, { model: 'iPhone13,1' }));
    await show('sign-in');
    await page.goto(authUrl);
    await page.getByLabel('Account name').fill('mallory');
    await page.getByLabel('Password').fill('x');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await show('wrong');
    for (let guess = 0; guess < 5; guess++) {
      await page.getByLabel('Password').fill('x');
      await page.keyboard.press('Enter');
      await page.waitForLoadState();
    }
    await page.getByText('Too many attempts').waitFor();
    await show('throttled');
    gateway.advance(11 * 60_000);
    await page.goto(authUrl);
    await show('expired');
    gateway.advance(hour);
    for (const model of ['iPhone 12 mini (iPhone13,1)', 'iPad7,5']) await signIn(gateway.base, 'alice', { model });
    await page.goto(`${gateway.base}/v2/devices`);
    await page.getByLabel('Account name').fill('alice');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your devices' }).waitFor();
    await show('devices');
  });
});

test('what is written from right to left stands in its own order', async () => {
  await withPage(phone, async (page) => {
    const model = 'آيفون!';
    // The exclamation mark is the end of the model, so it stands on the left of its first letter.
    const expectOrder = async () => {
      const lefts = await page.evaluate(`(() => {
        const text = document.evaluate('//body//text()[. = "${model}"]', document).iterateNext();
        return [0, text.length - 1].map((place) => {
          const range = document.createRange();
          range.setStart(text, place);
          range.setEnd(text, place + 1);
          return range.getBoundingClientRect().left;
        });
      })()`);
      const [first, last] = lefts as [number, number];
      expect(last).toBeLessThan(first);
    };
    await page.goto(await authenticate(gateway.base, { model }));
    await expectOrder();
    await signIn(gateway.base, 'alice', { model });
    await page.goto(`${gateway.base}/v2/login`);
    await page.getByLabel('Account name').fill('alice');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: model }).waitFor();
    await expectOrder();
  });
});

test('the name of a provider, however long its host is, does not widen the page', async () => {
  const named = await startGateway({
    GATEWAY_OIDC_ISSUER: 'http://127.0.0.1:1',
    GATEWAY_OIDC_CLIENT_ID: 'x',
    GATEWAY_OIDC_CLIENT_SECRET: 'x',
    GATEWAY_OIDC_NAME: 'W'.repeat(40),
  });
  await withPage(phone, async (page) => {
    await page.goto(await authenticate(named.base));
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Continue with' }).click();
    await page.getByRole('alert').waitFor();
    await expectAccessible(page);
  });
  await named.close();
});

test('without an account the page says how to add one, accessibly', async () => {
  const empty = await startGateway();
  await withPage(phone, async (page) => {
    await page.goto(await authenticate(empty.base));
    await expectAccessible(page);
    await takeScreenshot(page, 'no-account-phone-light');
  });
  await empty.close();
});
