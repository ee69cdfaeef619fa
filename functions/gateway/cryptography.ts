/**
 * The cryptography that the gateway needs. It is passed in because it must be synchronous, and WebCrypto's digest is
 * not.
 */
export interface Cryptography {
  /** A new opaque token: 256 random bits in base64url (43 characters). */
  randomToken(): string;
  /** A new identifier of a row. It is not a secret. */
  randomId(): string;
  /** SHA-256 of the UTF-8 text, 32 bytes. */
  sha256(text: string): Uint8Array;
  /** HMAC-SHA-256 of the UTF-8 text under the key (RFC 2104), 32 bytes. */
  hmac(key: Uint8Array | string, text: string): Uint8Array;
  /** Whether two digests are equal, in a time that does not depend on where they differ. */
  equal(one: Uint8Array, other: Uint8Array): boolean;
}

/** A credential set as the client holds it (protocol, "Credential set"). */
export interface Credentials {
  readonly auth_token: string;
  readonly payment_secret: string;
  readonly refresh_token: string;
}

/** The same set as the store keeps it. */
export interface CredentialHashes {
  readonly auth: Uint8Array;
  readonly secret: Uint8Array;
  readonly refresh: Uint8Array;
}

/** The hashes under which a credential set is stored and found. */
export const hashCredentials = (cryptography: Cryptography, credentials: Credentials): CredentialHashes => ({
  auth: cryptography.sha256(credentials.auth_token),
  secret: cryptography.sha256(credentials.payment_secret),
  refresh: cryptography.sha256(credentials.refresh_token),
});
