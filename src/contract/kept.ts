import { countedDays } from './records.ts';

// Everything that is kept about people. The privacy policy is composed from this list (privacy-policy.ts), and a test
// compares it with the tables, files, logs, cookies and forms that really exist. To add one, add it here, in words for
// the people concerned, and change `privacy_updated` in data/service.yaml, because package managers ask users again.

const hour = 3_600_000;
const day = 24 * hour;

/** A table that contains something about people. */
export interface KeptTable {
  /** What a row stands for. */
  readonly row: string;
  /** Each column, and what it says about a person; null if it says nothing about anybody. */
  readonly columns: Readonly<Record<string, string | null>>;
  /** When a row is deleted, in words. */
  readonly until: string;
  /** The same for the sweep: it deletes rows if this time lies so far back (in milliseconds). */
  readonly sweeps?: readonly { readonly column: string; readonly age: number }[];
}

/** Tables of the gateway's store, the same in SQLite and PostgreSQL. */
export const keptInGateway: Readonly<Record<string, KeptTable>> = {
  gateway_accounts: {
    row: 'your account',
    columns: {
      id: 'a random identifier',
      name: 'the name of the account',
      display_name: 'the name that is shown',
      password_hash: 'a salted hash of the password',
      issuer: 'the provider through which you sign in, if it is another',
      subject: 'the identifier that this provider gives us for you',
      created_at: 'when it was added',
      disabled_at: 'when it was disabled',
    },
    until: 'until it is removed, which you may ask for',
  },
  gateway_families: {
    row: 'each device that you signed in',
    columns: {
      id: 'a random identifier',
      account_id: 'the account',
      application: 'the application',
      model: 'the model of the device',
      masked_udid: 'the last four characters at most of its identifier',
      udid_hash: 'a keyed hash of that identifier, which can confirm it but does not reveal it',
      created_at: 'when it signed in',
      ends_at: 'when its sign-in ends by itself',
      last_used_at: 'when it was last used',
      revoked_at: 'when it was signed out',
    },
    until:
      'until 30 days after you sign the device out, or a day after its sign-in ends by itself, which is one year after it began',
    sweeps: [
      { column: 'ends_at', age: day },
      { column: 'revoked_at', age: 30 * day },
    ],
  },
  gateway_credential_sets: {
    row: 'each set of credentials of such a device',
    columns: {
      id: 'a random identifier',
      family_id: 'the device',
      auth_hash: 'hashes of the three credentials, which do not reveal them',
      secret_hash: null,
      refresh_hash: null,
      created_at: 'when it was given out',
      expires_at: 'when it expires',
      refresh_expires_at: null,
      ends_at: null,
      spent_at: 'when it was exchanged for another',
    },
    until: 'until a day after it can no longer be exchanged, which is at most 180 days after it was given out',
    sweeps: [{ column: 'refresh_expires_at', age: day }],
  },
  gateway_sign_in_requests: {
    row: 'each sign-in that was begun',
    columns: {
      handle_hash: 'a hash of its address',
      callback: 'the address of the application',
      application: null,
      model: 'the model of the device',
      masked_udid: 'the last four characters at most of its identifier',
      udid_hash: 'a keyed hash of that identifier, which can confirm it but does not reveal it',
      expires_at: 'when it ends',
      consumed_at: 'when it was completed',
      bytes: null,
    },
    until: 'for an hour after it ends, which is after ten minutes',
    sweeps: [{ column: 'expires_at', age: hour }],
  },
  gateway_browsers: {
    row: 'each browser in which you signed in',
    columns: {
      token_hash: 'a hash of its cookie',
      account_id: 'the account',
      signed_in_until: 'until when it is signed in',
      expires_at: null,
    },
    until: 'for 180 days, so that nobody else can lock you out by guessing, or until you sign in there again',
    sweeps: [{ column: 'expires_at', age: 0 }],
  },
  gateway_attempts: {
    row: 'failed sign-ins, failed requests of download servers and, on some servers, sign-ins that were begun',
    columns: {
      key_hash:
        'a hash of the name that was typed, of the network address, of both, or of the name and the cookie of a browser that knows it',
      count: 'how many there were',
      ends_at: null,
    },
    until: 'for little more than an hour at most',
    sweeps: [{ column: 'ends_at', age: 0 }],
  },
  gateway_request_totals: {
    row: 'how many sign-ins were begun',
    columns: { id: null, requests: null, bytes: null },
    until: 'always',
  },
  gateway_keys: { row: 'the key of these hashes', columns: { name: null, key: null }, until: 'always' },
  gateway_probe: { row: 'the health of the store', columns: { id: null, probed_at: null }, until: 'always' },
  gateway_schema: { row: 'the version of the store', columns: { version: null }, until: 'always' },
};

// The hashes are made with a key of the day, without which they reveal nothing (functions/downloads/download-marks.ts).
const marksUntil = 'until the day is over in UTC, when the key of these hashes is destroyed with them';

/** Tables of the download counters. */
export const keptOfDownloads: Readonly<Record<string, KeptTable>> = {
  downloads: {
    row: 'each day, package and version',
    columns: { day: null, package_id: null, package_version: null, count: 'how many downloads were reported' },
    until: `for ${countedDays} days`,
  },
  downloads_beyond: {
    row: 'each package',
    columns: { package_id: null, count: 'how many downloads were reported before that' },
    until: 'for good',
  },
  mark: {
    row: 'each download of the day',
    columns: {
      mark: 'a hash of the network it was reported from, with the package and its version, so that it is counted once',
    },
    until: marksUntil,
  },
  marked_network: {
    row: 'each network that reported a download',
    columns: { network: 'a hash of the network', taken: 'how many downloads it reported that day' },
    until: marksUntil,
  },
  marking: { row: 'the day', columns: { day: null, key: null }, until: marksUntil },
};

/**
 * Tables if several servers count together: what each server has yet to send, in its own file, and, with names that
 * begin with `downloads`, what is in the shared database in addition to the tables of `keptOfDownloads`.
 */
export const keptOfSharedDownloads: Readonly<Record<string, KeptTable>> = {
  unsent: {
    row: 'each download that is on its way to the database that the servers share',
    columns: {
      id: null,
      day: null,
      package_id: null,
      package_version: null,
      count: null,
      mark: 'a hash of the network it was reported from, with the package and its version',
    },
    until: 'until it has arrived there; the hash no longer than its day in UTC',
  },
  sender: { row: 'the server', columns: { name: null, number: null, last: null }, until: 'always' },
  downloads_mark: {
    row: 'each download of the day, in that database',
    columns: { mark: 'the same hash' },
    until: marksUntil,
  },
  downloads_marking: { row: 'the day', columns: { day: null, key: null }, until: marksUntil },
  downloads_sender: { row: 'each server', columns: { name: null, number: null, day: null }, until: 'always' },
  downloads_schema: { row: 'the version of the tables', columns: { version: null }, until: 'always' },
};

/** Files of the state folder with something about people. The others contain what repositories publish. */
export const keptFiles: Readonly<Record<string, string>> = {
  'gateway.sqlite': 'the store of the gateway',
  'gateway-audit.jsonl': 'the audit log of the gateway',
  'downloads.sqlite': 'the download counters',
};

/** Fields of the lines in the security log and the audit log. The operator decides how long these are kept. */
export const keptInLog = {
  time: 'the time',
  channel: null,
  event: 'what happened',
  account: 'the identifier of the account',
  name: 'the name of the account',
  family: 'the random identifier of the sign-in',
  address: 'the network address',
  reason: 'the reason',
  operator: 'which operator did it',
  devices: 'how many devices were signed out',
} as const satisfies Readonly<Record<string, string | null>>;

/**
 * Fields of the lines that the server logs when a limit is met: one for each limit at once, then at most one a minute.
 * The operator decides how long they are kept.
 */
export const keptOfLimits = {
  time: 'the time',
  event: null,
  limit: 'which limit it was',
  bound: null,
  count: 'how often it was met',
  total: null,
  client: 'the network address of the last one who met it (of IPv6 the first half)',
} as const satisfies Readonly<Record<string, string | null>>;

/**
 * Fields of the lines about requests, which are written only if the operator switched that on (`--access-log`); those
 * of `full` only if that was chosen. The operator decides how long they are kept.
 */
export const keptOfRequests = {
  plain: {
    time: 'the time',
    level: null,
    event: null,
    message: null,
    request: 'a random name of the request',
    method: 'the method',
    path: 'the address without what follows the "?", so of the words of a search only the first two letters, after which a file is named',
    operation: 'which operation it was',
    status: 'the status of the answer',
    whole: 'whether all of it was sent',
    bytes: 'its size',
    ms: 'how long it took',
  },
  full: {
    query: 'what follows the "?", so the words of a search, except on the pages for signing in',
    address: 'your network address',
    agent: 'the name of your browser or package manager (User-Agent)',
  },
} as const satisfies Readonly<Record<'plain' | 'full', Readonly<Record<string, string | null>>>>;

/** Fields of the lines about faults of the server itself. */
export const keptOfFaults = {
  time: 'the time',
  level: null,
  event: null,
  message: 'what failed',
  name: null,
  code: null,
  causes: 'why',
  stack: 'where in the program',
  request: 'the name of the request that met the fault',
  operation: 'the operation that was requested',
} as const satisfies Readonly<Record<string, string | null>>;

/**
 * Cookies, without the prefix `__Host-` that they have on https and without the ending that they have below a path.
 * Their life is in seconds, undefined for a session cookie.
 */
export const keptCookies: Readonly<Record<string, { readonly purpose: string; readonly life?: number }>> = {
  'gateway-form': {
    purpose: 'proves that a form was sent by the browser that it was made for; deleted when you close the browser',
  },
  'gateway-browser': {
    purpose: 'recognises the browser, for your list of devices and against guessed passwords; kept for 180 days',
    life: (180 * day) / 1000,
  },
  'gateway-openid': {
    purpose: 'is there while another provider signs you in; ten minutes at most',
    life: 600,
  },
};

/** What pages keep in the browser's own storage. It is sent to nobody. */
export const keptInBrowser: Readonly<Record<string, string>> = {
  theme: 'whether you chose the light or the dark theme',
  device:
    'the version of iOS and the kind of jailbreak that you set at the top of a page or, until you close the tab, those in an address that somebody shared with you',
  'index-away':
    'until when it searches by itself because the server did not answer a search (forgotten when you close the tab)',
  manager:
    'the package manager that you last opened a package in, or added a repository to, so that its button comes first',
};

/** Where the forms of the pages are sent, and what they contain. */
export const formsOfPages: Readonly<Record<string, string>> = {
  '/search/':
    'the words that you search for and, from that page if scripts are off or could not be loaded, what you narrow the search to and the order that you choose',
};
