import type { Context } from 'hono';
import type { CallbackRules } from './callback-rules.ts';
import type { Cryptography } from './cryptography.ts';
import type { OpenIdClient } from './openid.ts';
import type { Passwords } from './passwords.ts';
import type { SecurityLog } from './security-log.ts';
import type { CredentialStore } from './store/credential-store.ts';

/** What the gateway's routes need to know; times in milliseconds. */
export interface GatewaySettings {
  /** Address under which the server is reached, without a trailing slash; the gateway lies below it in `/v2`. */
  readonly publicAddress: string;
  readonly callbacks: CallbackRules;
  readonly credentialLife: number;
  readonly refreshLife: number;
  /** Sign-ins that one client may ask for in a minute; 0 for any number. */
  readonly signInRate: number;
  /** The key under which device identifiers are hashed; without one the store keeps a key of its own. */
  readonly deviceKey?: string | undefined;
  /** Secrets of the download servers that may introspect; none: the operation does not exist. */
  readonly introspectionSecrets: readonly string[];
}

/** Everything that the gateway is handed. */
export interface GatewayDeps {
  readonly settings: GatewaySettings;
  readonly store: CredentialStore;
  readonly cryptography: Cryptography;
  readonly passwords: Passwords;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: SecurityLog;
  /** The address of the client of this request, for the throttle and the log. */
  readonly clientAddress: (c: Context) => string;
  readonly openId?: OpenIdClient | undefined;
  /** Whether the rate of sign-ins is bounded in the store too: for hosts of which many run that know little of each other. */
  readonly countsSignIns?: boolean;
}

/** The gateway's own addresses. */
export const gatewayAddresses = ({ publicAddress }: GatewaySettings) => {
  const base = `${publicAddress}/v2`;
  const { pathname } = new URL(base);
  return {
    login: `${pathname}/login`,
    openIdStart: `${pathname}/login/openid`,
    devices: `${pathname}/devices`,
    signOut: `${pathname}/devices/sign-out`,
    leave: `${pathname}/devices/leave`,
    /** Absolute, as the provider compares it. */
    openIdReturn: `${base}/login/callback`,
    authUrl: (handle: string, callback: string) =>
      `${base}/login?request=${handle}&callback=${encodeURIComponent(callback)}`,
  };
};
