// The credential store's tables as Kysely sees them. Times are milliseconds since 1970 in UTC; hashes are the 32 bytes
// of SHA-256. No column holds a token, a password or a whole device identifier.

export interface GatewayTables {
  gateway_accounts: {
    id: string;
    /** What is typed at sign-in and in the accounts command, in normal form (see account-name.ts). */
    name: string;
    display_name: string;
    /** scrypt in PHC form; null for an account of the OpenID provider. */
    password_hash: string | null;
    issuer: string | null;
    subject: string | null;
    created_at: number;
    disabled_at: number | null;
  };
  /** One sign-in of one device: every credential set that descends from it by refreshing. */
  gateway_families: {
    id: string;
    account_id: string;
    /** Scheme or origin of the application's callback. */
    application: string;
    model: string;
    masked_udid: string;
    /** HMAC of the device identifier; null for a sign-in from before it was kept. */
    udid_hash: Uint8Array | null;
    created_at: number;
    /** The day of sign-in plus a year: no refresh reaches beyond it. */
    ends_at: number;
    last_used_at: number;
    revoked_at: number | null;
  };
  gateway_credential_sets: {
    id: string;
    family_id: string;
    auth_hash: Uint8Array;
    secret_hash: Uint8Array;
    refresh_hash: Uint8Array;
    created_at: number;
    expires_at: number;
    refresh_expires_at: number;
    /** The family's `ends_at`, copied so that rotation needs no second look. */
    ends_at: number;
    spent_at: number | null;
  };
  gateway_sign_in_requests: {
    handle_hash: Uint8Array;
    callback: string;
    application: string;
    model: string;
    masked_udid: string;
    udid_hash: Uint8Array | null;
    expires_at: number;
    consumed_at: number | null;
    /** About what the row takes on disk. */
    bytes: number;
  };
  /** One row: how many sign-in requests there are and what they take. */
  gateway_request_totals: {
    id: number;
    requests: number;
    bytes: number;
  };
  /** A browser that has signed in: signed in to the devices page for a while, remembered by the throttle for longer. */
  gateway_browsers: {
    token_hash: Uint8Array;
    account_id: string;
    signed_in_until: number;
    expires_at: number;
  };
  /** Failed sign-ins within a window, by hash of whom or what they are counted for. */
  gateway_attempts: {
    key_hash: Uint8Array;
    count: number;
    ends_at: number;
  };
  /** Keys that all replicas share, by what they are for. */
  gateway_keys: {
    name: string;
    key: Uint8Array;
  };
  gateway_probe: {
    id: number;
    probed_at: number;
  };
  gateway_schema: {
    version: number;
  };
}
