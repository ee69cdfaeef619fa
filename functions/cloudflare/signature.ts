import { compactVerify } from 'jose';
import { isDetachedJws } from '../../src/contract/generation.ts';

const base64url = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

/** Whether a detached JWS (RFC 7515, appendix F) signs this text with this Ed25519 public key. */
export const isSignedBy = async (publicKey: string, jws: string, text: string): Promise<boolean> => {
  if (!isDetachedJws(jws)) return false;
  const [header, , signature] = jws.trim().split('.');
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey };
    const key = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']);
    const whole = `${header}.${base64url(new TextEncoder().encode(text))}.${signature}`;
    await compactVerify(whole, key, { algorithms: ['EdDSA'] });
    return true;
  } catch {
    return false;
  }
};
