import { isAscii, isUtf8 } from 'node:buffer';

const windows1252 = new TextDecoder('windows-1252');

/**
 * Decodes text of unknown encoding: UTF-8 if the bytes are valid, or else Windows-1252, in which any bytes are. `utf8`
 * says which it was.
 */
export const decodeText = (bytes: Uint8Array): { text: string; utf8: boolean } => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(bytes)) return { text: buffer.toString('latin1'), utf8: true };
  if (isUtf8(bytes)) return { text: buffer.toString('utf8'), utf8: true };
  return { text: windows1252.decode(bytes), utf8: false };
};

/**
 * The part of `text` between `start` and `end` without blanks, tabs, CR and LF at both ends. Nothing else counts as
 * white space here.
 */
export const trimmedSlice = (text: string, start: number, end: number): string => {
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
};

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;
