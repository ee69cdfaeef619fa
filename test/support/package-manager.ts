import { BrowserSession } from './browser-session.ts';
import { password, post, readJson } from './gateway-session.ts';

/** What a client keeps after a sign-in (protocol, "Credential set"). */
export interface Credentials {
  readonly auth_token: string;
  readonly payment_secret: string;
  readonly refresh_token: string;
}

/** Reads the credentials from a callback's query. Throws if one is missing or appears twice. */
export const readCallback = (location: string | undefined): Credentials => {
  const { searchParams } = new URL(location ?? 'missing:');
  const one = (name: string) => {
    const [value, ...more] = searchParams.getAll(name);
    if (!value || more.length > 0) throw new Error(`the callback has no single ${name}: ${location}`);
    return value;
  };
  return {
    auth_token: one('auth_token'),
    payment_secret: one('payment_secret'),
    refresh_token: one('refresh_token'),
  };
};

/** Asks for a sign-in as an application does. Resolves to the address to open in a browser. */
export const authenticate = async (
  base: string,
  request: Partial<Record<'callback' | 'udid' | 'model', string>> = {},
) => {
  const body = {
    callback: 'sileo://authentication_success',
    udid: '00008030-001A2B3C4D5E6F70',
    model: 'iPhone12,1',
    ...request,
  };
  const response = await post(`${base}/v2/authenticate`, body);
  const answer = await readJson(response);
  if (response.status !== 200) throw new Error(`authenticate answered ${response.status}: ${JSON.stringify(answer)}`);
  return String(answer.auth_url);
};

/** Fills in the login page. Resolves to the answer to the form. */
export const logIn = async (authUrl: string, name: string, browser = new BrowserSession()) =>
  browser.submit(await browser.open(authUrl), { name, password });

/** Performs a whole sign-in; resolves to the credentials. */
export const signIn = async (base: string, name: string, request: Parameters<typeof authenticate>[1] = {}) =>
  readCallback((await logIn(await authenticate(base, request), name)).location);

/** The client of the protocol document: its states, and what it does in each ("States and transitions"). */
export class PackageManager {
  state: 'signed out' | 'authenticated' | 'expired' = 'signed out';
  credentials: Credentials | undefined;
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  /** Handles the redirect at the end of a login. */
  callback(location: string | undefined) {
    this.credentials = readCallback(location);
    this.state = 'authenticated';
  }

  /** An authenticated request. After a 401, the credentials have expired and are refreshed at once. */
  async request(): Promise<number> {
    const response = await fetch(`${this.#base}/v2/account`, {
      headers: { authorization: `Bearer ${this.credentials?.auth_token}` },
    });
    await response.text();
    if (response.status === 401 && this.credentials) {
      this.state = 'expired';
      await this.refresh();
    }
    return response.status;
  }

  async refresh(): Promise<number> {
    const response = await post(`${this.#base}/v2/refresh`, this.credentials);
    const answer = await readJson(response);
    const { auth_token, payment_secret, refresh_token } = answer;
    if (response.status === 200 && auth_token && payment_secret && refresh_token) {
      this.credentials = { auth_token, payment_secret, refresh_token };
      this.state = 'authenticated';
    } else {
      this.credentials = undefined;
      this.state = 'signed out';
    }
    return response.status;
  }

  /** After any status except 200 the client stays signed in. */
  async signOut(): Promise<number> {
    const response = await post(`${this.#base}/v2/revoke`, this.credentials);
    await response.text();
    if (response.status === 200) {
      this.credentials = undefined;
      this.state = 'signed out';
    }
    return response.status;
  }
}
