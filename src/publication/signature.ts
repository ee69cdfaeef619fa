import type { CryptoKey, JWK } from 'jose';
import { isDetachedJws } from '../contract/generation.ts';

// A detached JWS (RFC 7515, appendix F) with Ed25519 (RFC 8037): the compact form without its payload.

const algorithm = 'EdDSA';

// Loaded for signing and verifying, which most processes never do.
const loadJose = () => import('jose');

/** Signs generations. */
export interface Signer {
  /** The public key: the 32 bytes of Ed25519 in base64url, as in a JWK. */
  readonly publicKey: string;
  /** The detached JWS of these bytes, with a line feed at its end. */
  sign(payload: Uint8Array): Promise<string>;
}

/**
 * A signer with this private key, as written by `openssl genpkey -algorithm ed25519` (PKCS #8 in PEM).
 *
 * @throws TypeError if the text is no such key
 */
export const createSigner = async (pem: string): Promise<Signer> => {
  const { CompactSign, exportJWK, importPKCS8 } = await loadJose();
  let publicKey: string | undefined;
  let key: CryptoKey | undefined;
  try {
    key = await importPKCS8(pem, algorithm, { extractable: true });
    publicKey = (await exportJWK(key)).x;
  } catch {
    // Reported below: a library's own message may contain parts of the key.
  }
  if (key === undefined || publicKey === undefined) {
    throw new TypeError(
      'This is no private key of Ed25519 in PEM: make one with `openssl genpkey -algorithm ed25519`.',
    );
  }
  const signing = key;
  return {
    publicKey,
    sign: async (payload) => {
      const jws = await new CompactSign(payload).setProtectedHeader({ alg: algorithm }).sign(signing);
      const [header, , signature] = jws.split('.');
      return `${header}..${signature}\n`;
    },
  };
};

const jwkOf = (publicKey: string): JWK => ({ kty: 'OKP', crv: 'Ed25519', x: publicKey });

/** Whether a text is a public key in the form that `Signer` has. */
export const isPublicKey = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** Whether a detached JWS signs these bytes with this public key. */
export const verifySignature = async (jws: string, payload: Uint8Array, publicKey: string): Promise<boolean> => {
  if (!isDetachedJws(jws)) return false;
  const [header, , signature] = jws.trim().split('.');
  const { compactVerify, importJWK } = await loadJose();
  const whole = `${header}.${Buffer.from(payload).toString('base64url')}.${signature}`;
  try {
    await compactVerify(whole, await importJWK(jwkOf(publicKey), algorithm), { algorithms: [algorithm] });
    return true;
  } catch {
    return false;
  }
};
