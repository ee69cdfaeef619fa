import { splitClearSigned } from './clearsigned.ts';
import { parseRelease, type ReleaseFile } from './release.ts';

/** What the bytes of a Release or an InRelease hold: its text, be it signed or not; or that no text may be taken from it. */
export type OpenedRelease =
  | { readonly kind: 'opened'; readonly signed: boolean; readonly content: ReleaseFile }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Reads a Release or an InRelease. Of a signed one the signed text alone counts (`splitClearSigned`); no signature is
 * checked. Never throws.
 */
export const openRelease = (bytes: Uint8Array): OpenedRelease => {
  const split = splitClearSigned(bytes);
  if (split.kind === 'refused') return split;
  const signed = split.kind === 'signed';
  return { kind: 'opened', signed, content: parseRelease(signed ? split.content : bytes) };
};
