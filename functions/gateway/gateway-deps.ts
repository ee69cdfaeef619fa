import type { Context } from 'hono';
import type { CallbackRules } from './callback-rules.ts';
import type { Cryptography } from './cryptography.ts';
import type { OpenIdClient } from './openid.ts';
import type { Passwords } from './passwords.ts';
import type { SecurityLog } from './security-log.ts';
import type { CredentialStore } from './store/credential-store.ts';

/** The settings of the gateway's routes. Times are in milliseconds. */
export interface GatewaySettings {
  /** Address of the server, without a trailing slash. The gateway lies below it in `/v2`. */
  readonly publicAddress: string;
  readonly callbacks: CallbackRules;
  readonly credentialLife: number;
  readonly refreshLife: number;
  /** How many sign-ins one client may request in a minute; 0 for any number. */
  readonly signInRate: number;
  /** The key with which device identifiers are hashed. By default the store makes and keeps one. */
  readonly deviceKey?: string | undefined;
  /** Secrets of the download servers that may use introspection. Without any, the operation does not exist. */
  readonly introspectionSecrets: readonly string[];
}

/** Everything that the gateway needs from its host. */
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
  /**
   * Whether the rate of sign-ins is also limited in the store, because many instances of this host run side by side.
   */
  readonly countsSignIns?: boolean;
}

/** The addresses of the gateway. */
export const gatewayAddresses = ({ publicAddress }: GatewaySettings) => {
  const base = `${publicAddress}/v2`;
  const { pathname } = new URL(base);
  return {
    login: `${pathname}/login`,
    openIdStart: `${pathname}/login/openid`,
    devices: `${pathname}/devices`,
    signOut: `${pathname}/devices/sign-out`,
    leave: `${pathname}/devices/leave`,
    /** An absolute address, because the provider compares it. */
    openIdReturn: `${base}/login/callback`,
    authUrl: (handle: string, callback: string) =>
      `${base}/login?request=${handle}&callback=${encodeURIComponent(callback)}`,
  };
};
