/** The settings of a fetch handler: those variables of the server (docs/operating.md) that apply to it. */
export interface FetchSettings {
  /** Folder of what the build published. */
  readonly out: string;
  /** Folder of the catalog; nothing is written there. */
  readonly state: string;
  /** The folder whose safety.yaml is used; undefined for the list that ships with the project. */
  readonly data: string | undefined;
  /** Computed answers a second for each client, twice as many at once; 0 sets no limit. */
  readonly rate: number;
  readonly olderAddresses: boolean;
  /** Proxies of our own in front, each of which adds to X-Forwarded-For. */
  readonly trustedProxies: number;
}

type Variables = Readonly<Record<string, string | undefined>>;

const readCount = (environment: Variables, name: string, usual: number): number => {
  const text = environment[name] || String(usual);
  if (!/^\d{1,9}$/.test(text)) throw new TypeError(`${name} must be a whole number, not "${text}"`);
  return Number(text);
};

const yes = ['1', 'true', 'yes', 'on'];
const no = ['', '0', 'false', 'no', 'off'];

const readSwitch = (environment: Variables, name: string): boolean => {
  const text = (environment[name] ?? '').toLowerCase();
  if (!yes.includes(text) && !no.includes(text))
    throw new TypeError(`${name} must be "true" or "false", not "${text}"`);
  return yes.includes(text);
};

/** Reads the settings from environment variables. Throws a TypeError whose message says what to write. */
export const readFetchSettings = (environment: Variables): FetchSettings => ({
  out: environment.DEBDEX_OUT || 'dist',
  state: environment.DEBDEX_STATE || 'state',
  data: environment.DEBDEX_DATA || undefined,
  rate: readCount(environment, 'DEBDEX_RATE_LIMIT', 1000),
  olderAddresses: !readSwitch(environment, 'DEBDEX_NO_OLDER_ADDRESSES'),
  trustedProxies: readCount(environment, 'DEBDEX_TRUSTED_PROXIES', 0),
});
