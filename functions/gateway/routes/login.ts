import { type Context, Hono } from 'hono';
import { HttpError } from '../../http/answers.ts';
import { clientNetwork } from '../../http/client-address.ts';
import { normaliseAccountName } from '../account-name.ts';
import { createBrowserCookies } from '../browser-cookies.ts';
import { type GatewayDeps, gatewayAddresses } from '../gateway-deps.ts';
import {
  OpenIdDenied,
  OpenIdFailed,
  type OpenIdIdentity,
  OpenIdNotAllowed,
  OpenIdStale,
  OpenIdSubjectRefused,
} from '../openid.ts';
import { endedRequestPage, failurePage, type LoginView, loginPage } from '../pages/login-page.ts';
import { createPageRenderer, redirect } from '../pages/page.ts';
import type { Protocol } from '../protocol.ts';
import { toReadable } from '../readable-text.ts';
import { createSignInRate } from '../sign-in-rate.ts';
import { describeSilently } from '../silent-cause.ts';
import { countSignInAttempt, countSignInRequest } from '../throttle.ts';
import { tellFailure, toRefusal } from './credential-answers.ts';
import { readFormBody } from './credential-request.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** How long a browser stays signed in to the devices page. */
const sessionLife = 30 * minute;
/** How long the throttle remembers a browser that signed in. */
const browserLife = 180 * day;

type Problem = LoginView['error'];

/** The login page and the detour through the OpenID provider (decisions, section 6). */
export const loginRoutes = (deps: GatewayDeps, protocol: Protocol): Hono => {
  const { store, cryptography, passwords, log, clientAddress, clock, countsSignIns, openId } = deps;
  const addresses = gatewayAddresses(deps.settings);
  const cookies = createBrowserCookies(deps);
  const render = createPageRenderer(cryptography, new URL(deps.settings.publicAddress).host);
  const routes = new Hono();

  routes.onError((error, c) => {
    const failure = error instanceof OpenIdStale ? staleSignIn() : error;
    tellFailure(log, failure);
    const { status, message, headers } = toRefusal(failure);
    const sentence = status === 503 ? 'Sign-in is not possible at the moment. Please try again shortly.' : message;
    return render(c, failurePage(status, 'Sign in', sentence, headers));
  });

  /**
   * The login page for a handle, or for the devices page if the handle is empty. If the handle is not open, a page that
   * says so.
   */
  const showLogin = async (c: Context, handle: string, shown: { name?: string; error?: Problem } = {}) => {
    const known = handle === '' ? undefined : await protocol.lookUpHandle(handle);
    if (known && known.state !== 'open') return render(c, endedRequestPage(known.state));
    const csrf = cookies.issueFormToken(c, `login ${handle}`);
    const page = loginPage({
      request: known && { handle, application: known.request.application, model: known.request.model },
      csrf,
      action: addresses.login,
      openId: openId && {
        label: openId.label,
        href: `${addresses.openIdStart}?${new URLSearchParams({ request: handle, csrf })}`,
      },
      hasAccounts: await store.hasAccounts(),
      ...(shown.name !== undefined && { name: shown.name }),
      ...(shown.error && { error: shown.error }),
    });
    return render(c, page);
  };

  /** The login page again, after a form without our token. The browser has a token for it now. */
  const showRefusedForm = (c: Context, handle: string, sentence: string) =>
    showLogin(c, handle, { error: { status: 403, sentences: [sentence] } });

  /**
   * From now on the account knows the browser, and the browser is signed in to the devices page for `sessionLife`
   * milliseconds.
   */
  const rememberBrowser = async (c: Context, account: { id: string }, sessionLife: number) => {
    const token = cryptography.randomToken();
    const tokenHash = cryptography.sha256(token);
    const previous = cookies.browser.read(c);
    if (previous !== '') await store.removeBrowser(cryptography.sha256(previous));
    await store.addBrowser({ tokenHash, accountId: account.id, sessionLife, life: browserLife });
    cookies.browser.write(c, token);
  };

  /** Completes the sign-in for the application that asked, or opens the devices page. */
  const finish = async (c: Context, handle: string, account: { id: string }) => {
    const event = { event: 'sign-in', account: account.id, address: clientAddress(c) } as const;
    const completed = handle === '' ? undefined : await protocol.completeSignIn(handle, account.id, c.req.raw.signal);
    if (handle !== '' && !completed) return showLogin(c, handle);
    // An application's sign-in does not leave the browser signed in, because the device may not belong to the user.
    const remembering = rememberBrowser(c, account, completed ? 0 : sessionLife);
    // The request is used up and the credentials exist, so failing to remember the browser must not lose them.
    await (completed ? remembering.catch((error) => tellFailure(log, error)) : remembering);
    log(completed ? { ...event, family: completed.familyId } : event);
    return redirect(c, completed?.location ?? addresses.devices);
  };

  const showMethodRefused = (c: Context, allow: string) =>
    render(c, failurePage(405, 'Sign in', `${c.req.method} is not offered here.`, { Allow: allow }));
  const refuseOthers = (path: string, allow: string) => routes.all(path, (c) => showMethodRefused(c, allow));

  routes.get('/login', (c) => showLogin(c, c.req.query('request') ?? ''));

  routes.post('/login', async (c) => {
    const form = await readFormBody(c.req.raw);
    const field = (name: string) => form.get(name) ?? '';
    const handle = field('request');
    const fault = cookies.findFault(c, `login ${handle}`, field('csrf'));
    if (fault !== undefined) return showRefusedForm(c, handle, fault);
    const known = handle === '' ? undefined : await protocol.lookUpHandle(handle);
    if (known && known.state !== 'open') return render(c, endedRequestPage(known.state));

    const typed = field('name').slice(0, 64);
    const retry = (error: Problem) => showLogin(c, handle, { name: typed, error });
    const name = normaliseAccountName(typed);
    const address = clientAddress(c);
    const knownBrowser = await findKnownBrowser(c, name);
    const place = knownBrowser ? { holder: name, known: true } : { holder: clientNetwork(address, 48) };
    // Of a flood that fills the places, nothing is written: that would stand in the way of what is written of everybody.
    passwords.assertRoom(place);
    const attempt = await countSignInAttempt(deps, { name: name ?? '', address, knownBrowser });
    if (attempt.wait !== undefined) {
      log({ event: 'sign-in-throttled', address });
      return retry(describeWait(attempt.wait));
    }
    const find = async () => (name === undefined ? undefined : store.findAccount(name));
    const check = async () => {
      const hash = (await find())?.passwordHash;
      const isRight = await passwords.verify(field('password').slice(0, 1024), hash ?? undefined, place);
      // A check may wait so long for its turn that the account has been disabled or its password changed meanwhile.
      const account = await find();
      return { account, fits: isRight && account?.passwordHash === hash };
    };
    const { account, fits } = await check().catch(async (error) => {
      // For want of a place, it still counts for the network: others have filled them since the look above.
      await (error instanceof HttpError ? attempt.returnForAccount() : attempt.return());
      throw error;
    });
    if (!account || !fits || account.disabledAt !== null) {
      log({ event: 'sign-in-failed', address, ...(account && { account: account.id }) });
      return retry({ status: 403, sentences: ['The account name or the password is wrong.'] });
    }
    await attempt.return();
    return finish(c, handle, account);
  });

  const findKnownBrowser = async (c: Context, name: string | undefined) => {
    const token = cookies.browser.read(c);
    if (token === '' || name === undefined) return undefined;
    const tokenHash = cryptography.sha256(token);
    const browser = await store.findBrowser(tokenHash);
    return browser?.accountName === name ? tokenHash : undefined;
  };

  if (openId) {
    const rate = deps.settings.signInRate;
    const steps = { toProvider: createSignInRate(rate, clock), fromProvider: createSignInRate(rate, clock) };
    /**
     * The seconds that a client has to wait until we ask the provider for it again, 0 for none. Anybody may send us what
     * only the provider can tell from a sign-in of its own.
     */
    const countStep = async (c: Context, step: keyof typeof steps): Promise<number> => {
      const address = clientAddress(c);
      return steps[step](address) || (countsSignIns ? countSignInRequest(deps, address, rate, step) : 0);
    };

    /** The login page again, so that the user can retry or sign in in another way. */
    const showProviderTrouble = (c: Context, handle: string, error: unknown) => {
      const address = clientAddress(c);
      if (error instanceof OpenIdNotAllowed) {
        log({ event: 'sign-in-refused', name: nameAtProvider(error.identity), address, reason: 'claim' });
      } else if (
        error instanceof OpenIdDenied ||
        error instanceof OpenIdSubjectRefused ||
        error instanceof OpenIdFailed
      ) {
        log({ event: 'sign-in-failed', address, reason: describeSilently(error) });
      } else throw error;
      return showLogin(c, handle, { error: describeProviderTrouble(openId.label, error) });
    };

    /** The account of a provider's user, which is added at the first sign-in. Throws if it is disabled. */
    const findProvidersAccount = async (c: Context, identity: OpenIdIdentity) => {
      const name = nameAtProvider(identity);
      const account = await store.findOrAddFederated({ ...identity, id: cryptography.randomId(), name });
      if (account.added) {
        const { id, name: given } = account;
        log({ event: 'account-added', account: id, name: given, address: clientAddress(c), reason: 'first sign-in' });
      }
      if (account.disabledAt !== null) {
        log({ event: 'sign-in-failed', account: account.id, address: clientAddress(c), reason: 'disabled' });
        throw new HttpError(403, 'This account is disabled.');
      }
      return account;
    };

    routes.get('/login/openid', async (c) => {
      const handle = c.req.query('request') ?? '';
      // Otherwise another site could start this in a user's browser and sign them in without asking.
      const fault = cookies.findFault(c, `login ${handle}`, c.req.query('csrf') ?? '');
      if (fault !== undefined) return showRefusedForm(c, handle, fault);
      const known = handle === '' ? undefined : await protocol.lookUpHandle(handle);
      if (known && known.state !== 'open') return render(c, endedRequestPage(known.state));
      const wait = await countStep(c, 'toProvider');
      if (wait > 0) return showLogin(c, handle, { error: describeWait(1000 * wait) });
      try {
        const { url, attempt } = await openId.start(addresses.openIdReturn);
        cookies.rememberDetour(c, { ...attempt, handle });
        return redirect(c, url.href);
      } catch (error) {
        return showProviderTrouble(c, handle, error);
      }
    });

    routes.get('/login/callback', async (c) => {
      // Who only looks at an address, as a scanner of links in the browser, must not use up the sign-in.
      if (c.req.method === 'HEAD') return showMethodRefused(c, 'GET');
      const returned = new URL(addresses.openIdReturn);
      returned.search = new URL(c.req.url).search;
      const wait = await countStep(c, 'fromProvider');
      // The browser keeps its cookie, and the code is good for a while: the same address works then.
      if (wait > 0) throw new HttpError(429, sentencesOfWait(1000 * wait).join(' '), { 'Retry-After': `${wait}` });
      const detour = cookies.takeDetour(c, returned.searchParams.getAll('state'));
      if (!detour) throw staleSignIn();
      try {
        const account = await findProvidersAccount(c, await openId.finish(returned, detour));
        return await finish(c, detour.handle, account);
      } catch (error) {
        return showProviderTrouble(c, detour.handle, error);
      }
    });
    refuseOthers('/login/openid', 'GET, HEAD');
    refuseOthers('/login/callback', 'GET');
  }

  refuseOthers('/login', 'GET, HEAD, POST');
  return routes;
};

const describeProviderTrouble = (label: string, error: Error): Problem => {
  if (error instanceof OpenIdNotAllowed) {
    const sentence = `Your account at ${label} may not sign in here.`;
    return { status: 403, sentences: [sentence, 'To use another one, sign out there first.'] };
  }
  if (error instanceof OpenIdSubjectRefused) {
    return { status: 403, sentences: [`Your account at ${label} cannot be used here: its identifier cannot be kept.`] };
  }
  return error instanceof OpenIdDenied
    ? { status: 403, sentences: [`${label} did not confirm the sign-in.`] }
    : { status: 503, sentences: [`${label} cannot be reached, or its answer could not be confirmed.`] };
};

const staleSignIn = () =>
  new HttpError(
    403,
    'This sign-in was not started in this browser, or has been finished before. Go back and start it again from there.',
  );

// No account of the store itself has a colon in its name. One host may serve several issuers under different paths.
const nameAtProvider = ({ issuer, subject }: { readonly issuer: string; readonly subject: string }) => {
  const { host, pathname } = new URL(issuer);
  return toReadable(`${host}${pathname.replace(/\/+$/, '')}:${subject}`, 400);
};

const sentencesOfWait = (milliseconds: number): string[] => {
  const minutes = Math.ceil(milliseconds / minute);
  return ['Too many attempts.', `Please wait ${minutes === 1 ? 'a minute' : `${minutes} minutes`} and try again.`];
};

const describeWait = (milliseconds: number): Problem => ({
  status: 429,
  retryAfter: Math.ceil(milliseconds / 1000),
  sentences: sentencesOfWait(milliseconds),
});
