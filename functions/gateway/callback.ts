import { type CallbackRules, isNamedByRule, isWeb, opensAddress } from './callback-rules.ts';
import type { Credentials } from './cryptography.ts';

/** An allowed callback: its address in normal form, and the scheme or origin that identifies the application. */
export interface Callback {
  readonly address: string;
  readonly application: string;
}

/** A callback that is not allowed. The message is a sentence for the client. */
export class CallbackRefused extends Error {
  readonly code = 'callback_refused';
}

const credentialNames: readonly (keyof Credentials)[] = ['auth_token', 'payment_secret', 'refresh_token'];
const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Checks a callback against the allow list (decisions, section 7, "Gateway callbacks"; RFC 9700, section 2.1). The
 * decision uses the address as WHATWG parses it, as does the browser that follows it; whatever could be parsed in a
 * surprising way is refused first. Throws CallbackRefused with a sentence for the client.
 */
export const parseCallback = (text: string, rules: CallbackRules): Callback => {
  const refuse = (sentence: string) => new CallbackRefused(`Field 'callback' ${sentence}`);
  if (text.length > 2048) throw refuse('must be at most 2048 characters');
  // Printable ASCII without blanks: WHATWG strips some control characters and blanks, and reads a backslash as a slash.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text)) throw refuse('must be an absolute URI of printable ASCII characters');
  if (/%(0d|0a|00)/i.test(text)) throw refuse('must not contain encoded line breaks');
  if (text.includes('#')) throw refuse('must not have a fragment');
  if (!/^[a-z][a-z0-9+.-]*:/.test(text)) throw refuse('must be an absolute URI with a lower-case scheme');
  if (!URL.canParse(text)) throw refuse('must be an absolute URI');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^[^/?]*\/\/[^/?]*@/.test(text)) {
    throw refuse('must not carry user information');
  }
  const application = findApplication(url, rules);
  if (application === undefined) throw refuse('is not on the list of allowed callbacks');
  if (opensAddress(url)) throw refuse('must not make its application open another address');
  // Some programs split queries at semicolons, too; some (PHP) read `name[]` as `name`, and a dot or a blank as `_`.
  const names = url.search
    .slice(1)
    .split(/[&;]/)
    .flatMap((pair) => [...new URLSearchParams(pair).keys()]);
  const taken = credentialNames.find((name) =>
    names.some((other) => other.trim().toLowerCase().replace(/[. ]/g, '_').split('[')[0] === name),
  );
  if (taken !== undefined) throw refuse(`must not carry a parameter named '${taken}'`);
  return { address: url.href, application };
};

const findApplication = (url: URL, rules: CallbackRules) => {
  if (isNamedByRule(url, rules)) return isWeb(url.protocol) ? url.origin : url.protocol;
  return rules.loopback && url.protocol === 'http:' && loopbackHosts.has(url.hostname) ? url.origin : undefined;
};

/** The callback with the credentials appended. Its own query stays byte for byte. */
export const addCredentials = (address: string, credentials: Credentials): string => {
  const separator = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&';
  const query = credentialNames.map((name) => `${name}=${encodeURIComponent(credentials[name])}`).join('&');
  return `${address}${separator}${query}`;
};

/** The source for the page's `form-action`, which browsers also apply to the redirect that answers the form. */
export const formActionSource = (application: string): string =>
  // A Content-Security-Policy source cannot name an IPv6 address.
  application.includes('[') ? 'http:' : application;

const applicationNames: Readonly<Record<string, string>> = {
  // All three use this scheme (see callback-rules.ts).
  'sileo:': 'Sileo, Zebra or Saily',
  'zbra:': 'Zebra',
  'cydia:': 'Cydia',
  'installer:': 'Installer',
};

/** A name that people recognise for the application that a callback belongs to. */
export const describeApplication = (application: string): string => {
  const known = applicationNames[application];
  if (known !== undefined) return known;
  if (!application.includes('//')) return `The application for ${application}// links`;
  const { host, hostname } = new URL(application);
  return loopbackHosts.has(hostname) ? `A program on this computer (${host})` : host;
};
