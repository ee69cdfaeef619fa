import { visibleText } from '../catalog/placeholder.ts';
import { rememberRecent } from './page-keys.ts';

/** A piece of a stranger's text: plain, or an address that may be followed. */
interface Piece {
  readonly text: string;
  readonly href?: string;
}

const address = /https?:\/\/[^\s<>"'`{}|\\^]+/gi;

/** The address as the URL parser writes it, if it is http(s) without user information; otherwise undefined. */
export const webAddress = (text: string | null | undefined): string | undefined => {
  const url = text == null ? null : URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  return url.username === '' && url.password === '' ? url.href : undefined;
};

// A full stop or bracket after an address belongs to the sentence around it, unless the matching bracket is inside.
const trimAddress = (text: string): string => {
  let end = text.length;
  for (;;) {
    const last = text[end - 1];
    if (last === undefined) return '';
    if ('.,;:!?*_'.includes(last)) end--;
    else if (last === ')' && !text.slice(0, end).includes('(')) end--;
    else if (last === ']' && !text.slice(0, end).includes('[')) end--;
    else return text.slice(0, end);
  }
};

const linkify = (line: string): Piece[] => {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of line.matchAll(address)) {
    const text = trimAddress(match[0]);
    const href = webAddress(text);
    if (href === undefined) continue;
    if (match.index > at) pieces.push({ text: line.slice(at, match.index) });
    pieces.push({ text, href });
    at = match.index + text.length;
  }
  if (at < line.length) pieces.push({ text: line.slice(at) });
  return pieces;
};

/** One line of a paragraph or of a list. */
export interface Block {
  readonly kind: 'paragraph' | 'list';
  /** Lines of a paragraph, or entries of a list. */
  readonly lines: readonly (readonly Piece[])[];
}

const bullet = /^\s*[-*•·–]\s+/;
const numbered = /^\d{1,2}[.)]\s/;

const wordsOf = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().toLowerCase();
const ending = /[\s.:…!]/u;

// Searches from the end: a regular expression would examine a long run of these characters once for each of them.
const withoutEnding = (text: string): string => {
  let end = text.length;
  while (end > 0 && ending.test(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
};

/** The lines of a description. If the extended text begins with the words of the first line, these occur only once. */
const withoutRepetition = (lines: readonly string[]): readonly string[] => {
  const [first = '', second = '', ...rest] = lines;
  const said = withoutEnding(wordsOf(first));
  if (said === '') return lines;
  if (withoutEnding(wordsOf(second)) === said) return [first, ...rest];
  const after = wordsOf(lines.slice(1).join('\n'));
  return after.startsWith(said) && !/^[\p{L}\p{N}]/u.test(after.slice(said.length)) ? lines.slice(1) : lines;
};

/**
 * Divides a description into blocks, by the rules for its extended text (Debian Policy, 5.6.13): the first line stands
 * alone, a blank line separates paragraphs, the lines of a paragraph are joined, and a line that begins with a blank
 * stays a line. Lines that begin with a bullet form a list. If the text begins with the words of the first line, they
 * are not repeated. Nothing in it is markup: the result is text to be escaped, and addresses that are http(s).
 */
export const readProse = (text: string): Block[] => {
  const blocks: { kind: Block['kind']; lines: string[] }[] = [];
  let open: (typeof blocks)[number] | undefined;
  let flows = false;
  const all = text.split('\n');
  const written = withoutRepetition(all);
  // Only the extended text is joined from its first line on.
  const hasSynopsis = written[0] === all[0];
  for (const [index, raw] of written.entries()) {
    const line = raw.trim();
    if (line === '' || line === '.') {
      open = undefined;
      continue;
    }
    const kept = /^\s/.test(raw);
    const isBullet = bullet.test(raw);
    const kind = isBullet || (kept && open?.kind === 'list') ? 'list' : 'paragraph';
    if (open === undefined || open.kind !== kind) {
      open = { kind, lines: [] };
      blocks.push(open);
      flows = false;
    }
    const last = open.lines.length - 1;
    const continues = kind === 'list' ? !isBullet : flows && !kept && !numbered.test(line);
    if (continues && last >= 0) open.lines[last] += ` ${line}`;
    else open.lines.push(isBullet ? line.replace(bullet, '') : line);
    flows = !kept;
    if (index === 0 && hasSynopsis && !isBullet) open = undefined;
  }
  return blocks.map(({ kind, lines }) => ({ kind, lines: lines.map(linkify) }));
};

const foldAfter = 12;
const lineLength = 64;

/** Whether a description has more than some twelve lines on a page, so that its end is folded at first. */
export const isLong = (blocks: readonly Block[]): boolean => {
  let lines = 0;
  for (const block of blocks) {
    for (const pieces of block.lines) {
      const length = pieces.reduce((sum, piece) => sum + piece.text.length, 0);
      lines += Math.max(1, Math.ceil(length / lineLength));
    }
    lines += 0.7;
  }
  return lines > foldAfter + 2;
};

const mailAddress = /<([^<>]*)>/;
// Separators between several people, each with an address of their own.
const nextPerson = /^\s*(?:[,;&+/]\s*(?:and\s)?|and\s)/i;

const withoutQuotes = (name: string): string => name.trim().replace(/^"(.*)"$/, '$1');

const nameOf = rememberRecent((text: string): string | undefined => {
  const [first = '', address, ...rest] = text.split(mailAddress);
  const others = rest
    .filter((piece, index) => index % 2 === 0 && nextPerson.test(piece))
    .map((piece) => withoutQuotes(piece.replace(nextPerson, '')))
    .filter((name) => name !== '');
  const name = [withoutQuotes(first), ...others].filter((one) => one !== '').join(', ');
  const named = name === '' ? (address?.trim() ?? '') : name;
  return visibleText(named) === null ? undefined : named;
});

/**
 * The name of a person in a control file; the mail address if there is no name, and undefined if there is neither. Several
 * people with addresses become one name with commas.
 */
export const parsePerson = (text: string | null): string | undefined => (text === null ? undefined : nameOf(text));
