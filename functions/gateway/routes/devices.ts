import { type Context, Hono } from 'hono';
import { createBrowserCookies } from '../browser-cookies.ts';
import { type GatewayDeps, gatewayAddresses } from '../gateway-deps.ts';
import { devicesPage } from '../pages/devices-page.ts';
import { failurePage } from '../pages/login-page.ts';
import { createPageRenderer, redirect } from '../pages/page.ts';
import { tellFailure, toRefusal } from './credential-answers.ts';
import { readFormBody } from './credential-request.ts';

// PostgreSQL fails on a text with a NUL, as if the store were unavailable.
const isIdentifier = /^[\w-]+$/;

/** The page on which a user sees the devices of an account and signs them out, for a browser that signed in to it. */
export const devicesRoutes = (deps: GatewayDeps): Hono => {
  const { store, cryptography, log, clientAddress } = deps;
  const addresses = gatewayAddresses(deps.settings);
  const cookies = createBrowserCookies(deps);
  const render = createPageRenderer(cryptography, new URL(deps.settings.publicAddress).host);
  const routes = new Hono();

  routes.onError((error, c) => {
    const { status, message, headers } = toRefusal(error);
    tellFailure(log, error);
    const sentence = status === 503 ? 'Your devices cannot be shown at the moment. Please try again shortly.' : message;
    return render(c, failurePage(status, 'Your devices', sentence, headers));
  });

  const findSignedIn = async (c: Context) => {
    const token = cookies.browser.read(c);
    const browser = token === '' ? undefined : await store.findBrowser(cryptography.sha256(token));
    return browser?.signedIn ? browser : undefined;
  };

  routes.get('/devices', async (c) => {
    const browser = await findSignedIn(c);
    if (!browser) return redirect(c, addresses.login);
    const page = devicesPage({
      displayName: browser.displayName,
      devices: await store.listDevices(browser.accountId),
      csrf: cookies.issueFormToken(c, 'devices'),
      signOut: addresses.signOut,
      leave: addresses.leave,
      done: c.req.query('done') !== undefined,
    });
    return render(c, page);
  });

  routes.post('/devices/sign-out', async (c) => {
    const form = await readFormBody(c.req.raw);
    cookies.assertFormToken(c, 'devices', form.get('csrf') ?? '');
    const browser = await findSignedIn(c);
    if (!browser) return redirect(c, addresses.login);
    const family = form.get('family') ?? '';
    const revoked =
      isIdentifier.test(family) && (await store.whileWanted(c.req.raw.signal).revokeFamily(family, browser.accountId));
    if (revoked) {
      log({ event: 'revoked', account: browser.accountId, family, address: clientAddress(c), reason: 'devices page' });
    }
    return redirect(c, `${addresses.devices}?done`);
  });

  routes.post('/devices/leave', async (c) => {
    const form = await readFormBody(c.req.raw);
    cookies.assertFormToken(c, 'devices', form.get('csrf') ?? '');
    const token = cookies.browser.read(c);
    if (token !== '') await store.removeBrowser(cryptography.sha256(token));
    cookies.browser.clear(c);
    return redirect(c, addresses.login);
  });

  for (const [path, allow] of [
    ['/devices', 'GET, HEAD'],
    ['/devices/sign-out', 'POST'],
    ['/devices/leave', 'POST'],
  ] as const) {
    routes.all(path, (c) =>
      render(c, failurePage(405, 'Your devices', `${c.req.method} is not offered here.`, { Allow: allow })),
    );
  }
  return routes;
};
