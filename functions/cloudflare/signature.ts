import { base64url, compactVerify } from 'jose';
import { isDetachedJws } from '../../src/contract/generation.ts';

/** Whether a detached JWS (RFC 7515, appendix F) signs this text with this Ed25519 public key. */
export const isSignedBy = async (publicKey: string, jws: string, text: string): Promise<boolean> => {
  if (!isDetachedJws(jws)) return false;
  const [header, , signature] = jws.trim().split('.');
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey };
    const key = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']);
    const whole = `${header}.${base64url.encode(text)}.${signature}`;
    await compactVerify(whole, key, { algorithms: ['EdDSA'] });
    return true;
  } catch {
    return false;
  }
};
