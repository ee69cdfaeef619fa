// Which callbacks an operator allows (decisions, section 7, "Gateway callbacks"). callback.ts reads callbacks.

/** An allowed callback: exactly this scheme and host (with its port), and exactly this path if there is one. */
export interface AllowedAddress {
  /** With its colon, as in `sileo:`. */
  readonly protocol: string;
  readonly host: string;
  readonly path?: string;
}

/** Every callback that is allowed. */
export interface CallbackRules {
  readonly addresses: readonly AllowedAddress[];
  /** Schemes, with their colon, for which every address is allowed. */
  readonly schemes: ReadonlySet<string>;
  /** Whether http is allowed on the same computer, on any port. */
  readonly loopback: boolean;
}

/**
 * Where the known package managers take the answer of a payment provider's sign-in page: all of them at this one
 * address. Looked up in their sources:
 * - Sileo, `Sileo/Backend/Payment Manager/PaymentAuthenticator.swift` (github.com/Sileo/Sileo): an authentication session
 *   for the scheme `sileo`, whose answer must have the host `authentication_success`;
 * - Zebra, `Zebra/Tabs/Sources/Helpers/ZBSource.m` (github.com/zbrateam/Zebra): a session for the same scheme;
 * - Saily, `Application/Chromatic/Backend/PaymentManager/PaymentManager.swift` (github.com/SailyTeam/Saily): likewise.
 * Cydia and Installer have no such callback, and `zbra:` none that signs in (`Zebra/ZBAppDelegate.m`).
 */
export const packageManagerCallbacks = ['sileo://authentication_success'];

/** Schemes that run, read or frame something in the browser itself. No rule may name them. */
export const forbiddenSchemes: ReadonlySet<string> = new Set([
  'javascript:',
  'data:',
  'file:',
  'blob:',
  'vbscript:',
  'about:',
  'filesystem:',
  'view-source:',
  'ws:',
  'wss:',
  'ftp:',
]);

/**
 * Parses an operator's text into a rule: `sileo://host`, `sileo://host/path`, `https://app.example`. Undefined if it is
 * none.
 */
export const parseAllowedAddress = (text: string): AllowedAddress | undefined => {
  if (!/^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, host, pathname, search, hash, username, password, href } = new URL(text);
  if (forbiddenSchemes.has(protocol) || `${search}${hash}${username}${password}` !== '') return undefined;
  // If the parser had to correct the text, callbacks would be compared with something that the operator did not write.
  if (href !== text && href !== `${text}/`) return undefined;
  if (isWeb(protocol)) return href === text ? { protocol, host, path: pathname } : { protocol, host };
  if (pathname !== '') return { protocol, host, path: pathname };
  return host === '' ? undefined : { protocol, host };
};

/** Whether a rule allows this address. */
export const isNamedByRule = (url: URL, { addresses, schemes }: CallbackRules): boolean =>
  (schemes.has(url.protocol) && !isWeb(url.protocol) && !forbiddenSchemes.has(url.protocol)) ||
  addresses.some(
    ({ protocol, host, path }) =>
      protocol === url.protocol && host === url.host && (path === undefined || path === url.pathname),
  );

/** Whether this is the protocol of a web address, as `URL` names it. */
export const isWeb = (protocol: string): boolean => protocol === 'http:' || protocol === 'https:';

/**
 * Words after which applications open or add the following address: `url` of Cydia (`MobileCydia.mm`, pageForURL) and
 * Sileo (`Sileo/Backend/URL Manager/URLManager.swift`), `source` of Sileo, `sources` of Zebra
 * (`Zebra/ZBAppDelegate.m`), `add` of Installer, and what others call the same.
 */
const openingWords: ReadonlySet<string> = new Set([
  'url',
  'urls',
  'open',
  'openurl',
  'open-url',
  'open_url',
  'web',
  'webview',
  'browse',
  'browser',
  'safari',
  'link',
  'links',
  'redirect',
  'source',
  'sources',
  'repo',
  'repos',
  'add',
  'x-callback-url',
]);

/**
 * Whether an application's own address makes it open another one: its host or path contains one of these words, or an
 * address. The credentials are appended to the callback, so they would be sent to that other address.
 */
export const opensAddress = ({ protocol, host, pathname }: URL): boolean => {
  if (isWeb(protocol)) return false;
  // An application may decode a part of an address more than once.
  const text = [1, 2, 3, 4].reduce(decode, `${host}/${pathname.replace(/^\//, '')}`);
  const words = text
    .toLowerCase()
    .split(/[/\\?#;,=&]/)
    .map((word) => word.trim());
  const opens = (word: string) => openingWords.has(word) || /^[a-z][a-z\d+.-]*:(?!\d)/.test(word);
  return decode(text) !== text || words.some(opens) || words.slice(1, -1).includes('');
};

const decode = (text: string) =>
  text.replace(/%([\da-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
