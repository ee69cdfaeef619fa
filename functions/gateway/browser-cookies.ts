import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import { toHex } from '../../src/contract/hex.ts';
import { HttpError } from '../http/answers.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import type { OpenIdAttempt } from './openid.ts';

const day = 24 * 60 * 60;

/** What a browser carries to the provider and back. */
export interface OpenIdDetour extends OpenIdAttempt {
  /** The login handle; empty if the browser wants to reach the devices page. */
  readonly handle: string;
}

const detourSchema = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string(), handle: z.string() });

/**
 * How many sign-ins at a provider one browser may have in progress, in several windows. Beyond that the oldest is
 * forgotten.
 */
const mostDetours = 4;
const detoursSchema = z.array(detourSchema);

/** How many characters of a digest of the path distinguish the services of one host. */
const ownEnding = 8;

/**
 * The gateway's three cookies. They belong to this host alone (`__Host-`, if the site uses https), scripts cannot read
 * them, and forms of other sites do not send them.
 *
 * `__Host-` requires the path "/". Without that prefix a neighbouring host could set the cookie, and its form would
 * pass for ours (T4; RFC 6265bis, sections 4.1.3 and 8.6). So if the public address has a path, the cookies' names
 * contain a digest of it: signing in to one service of a host must not end the sign-in to another.
 */
export const createBrowserCookies = ({ settings, cryptography }: Pick<GatewayDeps, 'settings' | 'cryptography'>) => {
  const { origin, protocol, pathname } = new URL(settings.publicAddress);
  const secure = protocol === 'https:';
  const below = pathname.replace(/\/+$/, '');
  const own = below === '' ? '' : `-${toHex(cryptography.sha256(below)).slice(0, ownEnding)}`;
  const cookie = (name: string, maxAge?: number) => {
    const full = `${secure ? '__Host-' : ''}gateway-${name}${own}`;
    const options = { path: '/', httpOnly: true, sameSite: 'Lax', secure, ...(maxAge && { maxAge }) } as const;
    return {
      read: (c: Context) => getCookie(c, full) ?? '',
      write: (c: Context, value: string) => setCookie(c, full, value, options),
      clear: (c: Context) => setCookie(c, full, '', { ...options, maxAge: 0 }),
    };
  };
  const form = cookie('form');
  const browser = cookie('browser', 180 * day);
  const detour = cookie('openid', 600);

  const otherForm = 'This form did not come from this browser. Please try again.';
  const findFault = (c: Context, purpose: string, presented: string): string | undefined => {
    const site = c.req.header('sec-fetch-site');
    const from = c.req.header('origin');
    const foreign =
      (site !== undefined && site !== 'same-origin' && site !== 'none') ||
      (c.req.method === 'POST' && from !== undefined && from !== 'null' && from !== origin);
    if (foreign) throw new HttpError(403, otherForm);
    const secret = form.read(c);
    if (secret === '') return 'This browser kept no cookie of this site. Please allow its cookies and try again.';
    const expected = cryptography.sha256(formToken(secret, purpose));
    const matches = secret.length === 43 && cryptography.equal(expected, cryptography.sha256(presented));
    return matches ? undefined : otherForm;
  };

  const formToken = (secret: string, purpose: string) => toHex(cryptography.sha256(`${secret}\n${purpose}`));

  return {
    browser,
    /** The token that a form for this purpose must carry. Sets the browser's form cookie if it has none. */
    issueFormToken: (c: Context, purpose: string): string => {
      const known = form.read(c);
      const secret = known.length === 43 ? known : cryptography.randomToken();
      if (secret !== known) form.write(c, secret);
      return formToken(secret, purpose);
    },
    /**
     * A sentence for the user if a form lacks the token that belongs to this browser's cookie. Throws a 403 if a page
     * of another origin sent the form, because such a page must not make the browser take a new cookie. `Origin` is
     * `null` from our own pages, because they send no referrer.
     */
    findFault,
    /** Throws that as a 403. */
    assertFormToken: (c: Context, purpose: string, presented: string) => {
      const fault = findFault(c, purpose, presented);
      if (fault !== undefined) throw new HttpError(403, fault);
    },
    rememberDetour: (c: Context, value: OpenIdDetour) => {
      const others = parseDetours(detour.read(c)).slice(0, mostDetours - 1);
      detour.write(c, encode(JSON.stringify([value, ...others])));
    },
    /**
     * Returns and forgets what was remembered for the state that the provider sent back; undefined if nothing was.
     * Other entries stay, because those sign-ins may still return in another window.
     */
    takeDetour: (c: Context, states: readonly string[]): OpenIdDetour | undefined => {
      const all = parseDetours(detour.read(c));
      const [state = ''] = states.length === 1 ? states : [];
      const digest = cryptography.sha256(state);
      const found = all.find((each) => cryptography.equal(cryptography.sha256(each.state), digest));
      const others = all.filter((each) => each !== found);
      if (others.length === 0) detour.clear(c);
      else if (found) detour.write(c, encode(JSON.stringify(others)));
      return found;
    },
  };
};

const parseDetours = (text: string): OpenIdDetour[] => {
  try {
    return detoursSchema.parse(JSON.parse(atob(text)));
  } catch {
    return [];
  }
};

const encode = (text: string) => btoa(text);
