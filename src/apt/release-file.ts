import { type SplitOptions, splitClearSigned } from './clearsigned.ts';
import { parseRelease, type ReleaseFile } from './release.ts';

/** The content of a Release or an InRelease: its text and whether it is signed; or that no text may be used. */
export type OpenedRelease =
  | { readonly kind: 'opened'; readonly signed: boolean; readonly content: ReleaseFile }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Reads a Release or an InRelease. In a signed one only the signed text counts (`splitClearSigned`, with these options).
 * Does not check the signature. Never throws.
 */
export const openRelease = (bytes: Uint8Array, options: SplitOptions = {}): OpenedRelease => {
  const split = splitClearSigned(bytes, options);
  if (split.kind === 'refused') return split;
  const signed = split.kind === 'signed';
  return { kind: 'opened', signed, content: parseRelease(signed ? split.content : bytes) };
};
