import { decodeText } from './text.ts';

/**
 * The kind of an InRelease file. `plain` contains no signed message. `signed` is one complete message: `content` is the
 * signed bytes as apt uses them (dash escapes undone, blanks at line ends removed, every line ended by a
 * line feed), `signatures` are the armoured signature blocks, and `message` is the whole message as text, for a verifier.
 * `refused` is anything that begins as or resembles a signed message and is not exactly one, with apt's reason.
 */
export type ClearSigned =
  | { kind: 'plain' }
  | { kind: 'signed'; content: Uint8Array; signatures: string; message: string }
  | { kind: 'refused'; reason: string };

const messageBegin = '-----BEGIN PGP SIGNED MESSAGE-----';
const signatureBegin = '-----BEGIN PGP SIGNATURE-----';
const signatureEnd = '-----END PGP SIGNATURE-----';

/** How strictly a clear-signed file is split. */
export interface SplitOptions {
  /** Whether blank lines may follow a signature, as in files that earlier versions took. */
  readonly blankAfter?: boolean;
}

/**
 * Splits a clear-signed file (RFC 9580 §7) as strictly as apt: nothing, not even a blank line, may come before, between
 * or after the signed text and its signatures. Does not check the signature. Never throws.
 */
export const splitClearSigned = (bytes: Uint8Array, { blankAfter = false }: SplitOptions = {}): ClearSigned => {
  // One character for each byte, so that the content consists of the original bytes.
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (!source.includes(messageBegin)) return { kind: 'plain' };
  const whole = source.endsWith('\n') ? source.slice(0, -1) : source;
  const lines = whole.split('\n').map(withoutTrailingBlanks);
  if (lines[0] !== messageBegin) {
    return lines.includes(messageBegin)
      ? { kind: 'refused', reason: 'does not start with a signed message block' }
      : { kind: 'plain' };
  }

  const content: string[] = [];
  const signatures: string[] = [];
  let part: 'armor' | 'text' | 'signature' | 'after' = 'armor';
  for (const line of lines.slice(1)) {
    if (part === 'armor') {
      if (line.startsWith('-')) return refusedDash('armor');
      if (line === '') part = 'text';
    } else if (part === 'text') {
      if (line === signatureBegin) {
        signatures.push(line);
        part = 'signature';
      } else if (line.startsWith('-') && !line.startsWith('- ') && line !== '-') return refusedDash('msg');
      else content.push(line.startsWith('- ') ? line.slice(2) : line);
    } else if (part === 'signature') {
      if (line.startsWith('-') && line !== signatureEnd) return refusedDash('sig');
      signatures.push(line);
      if (line === signatureEnd) part = 'after';
    } else if (line === signatureBegin) {
      signatures.push(line);
      part = 'signature';
    } else if (line !== '') return { kind: 'refused', reason: 'contains unsigned lines' };
    else if (!blankAfter) return { kind: 'refused', reason: 'contains unsigned lines (blank ones)' };
  }
  if (part === 'signature') return { kind: 'refused', reason: 'the signature is not closed' };
  if (part !== 'after') return { kind: 'refused', reason: 'does not contain all expected parts' };
  return {
    kind: 'signed',
    content: Buffer.from(content.map((line) => `${line}\n`).join(''), 'latin1'),
    signatures: `${signatures.join('\n')}\n`,
    message: decodeText(bytes).text,
  };
};

const refusedDash = (where: string): ClearSigned => ({
  kind: 'refused',
  reason: `unexpected line starting with a dash (${where})`,
});

const withoutTrailingBlanks = (line: string): string => {
  let end = line.length;
  while (end > 0 && ' \t\r'.includes(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
};
