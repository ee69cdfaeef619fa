import { webUrl } from '../apt/urls.ts';
import type { Block, Piece } from './depiction.ts';
import { decodeReferences, withoutMarkup } from './html-text.ts';
import { readable } from './readable.ts';

// A small part of Markdown (CommonMark 0.31), converted to blocks and pieces of text, never to HTML. Each expression
// examines a bounded stretch, so the time is linear. Pictures become links.

const destination = String.raw`\(\s{0,9}<?((?:[^\s()<>]|\([^\s()<>]{0,200}\)){1,2000})>?(?:\s{1,9}(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'))?\s{0,9}\)`;
const picture = new RegExp(String.raw`!\[([^[\]\n]{0,300})\]${destination}`, 'y');
const link = new RegExp(
  String.raw`\[((?:[^[\]\n]|!\[[^[\]\n]{0,300}\]\([^\s()]{0,2000}\)){0,300})\]${destination}`,
  'y',
);
const code = /(`{1,3})([^`\n]{1,1000})\1(?!`)/y;
const strong = /\*\*(?=\S)([^*\n]{0,999}[^\s*])\*\*|__(?=\S)([^_\n]{0,999}[^\s_])__/y;
const emphasis = /\*(?=\S)([^*\n]{0,999}[^\s*])\*|_(?=\S)([^_\n]{0,999}[^\s_])_(?!\w)/y;
const address = /https?:\/\/[^\s<>"'`{}|\\^]{1,2000}/iuy;
const escaped = /\\([!-/:-@[-`{-~])/y;

const matchAt = (expression: RegExp, text: string, at: number): RegExpExecArray | null => {
  expression.lastIndex = at;
  return expression.exec(text);
};

/** The address of a link, if it is http(s) without user information. */
const hrefOf = (written: string): string | undefined => webUrl(decodeReferences(written)) ?? undefined;

// A full stop or bracket after an address belongs to the sentence around it, unless the matching bracket is inside.
const trimAddress = (text: string): string => {
  const trailing = text.includes('(') ? '.,;:!?*_]' : '.,;:!?*_])';
  let end = text.length;
  while (end > 0 && trailing.includes(text[end - 1] ?? '')) end--;
  return text.slice(0, end);
};

interface Found {
  readonly pieces: readonly Piece[];
  readonly end: number;
}

const words = (text: string): string => decodeReferences(text);

/** What begins at this position, if it is more than a letter. */
const readMark = (text: string, at: number, inner: boolean): Found | undefined => {
  const character = text[at];
  const end = (match: RegExpExecArray) => at + match[0].length;
  const toLink = (match: RegExpExecArray, label: string): Found => {
    const href = hrefOf(match[2] ?? '');
    // If a link must not be followed, its words stay.
    return { pieces: href === undefined ? [{ text: label }] : [{ text: label, href }], end: end(match) };
  };
  if (character === '\\') {
    const match = matchAt(escaped, text, at);
    return match === null ? undefined : { pieces: [{ text: match[1] ?? '' }], end: end(match) };
  }
  if (character === '`') {
    const match = matchAt(code, text, at);
    return match === null ? undefined : { pieces: [{ text: words(match[2] ?? ''), style: 'code' }], end: end(match) };
  }
  if (character === '!') {
    const match = matchAt(picture, text, at);
    return match === null ? undefined : toLink(match, words(match[1] ?? '') || 'Picture');
  }
  if (character === '[') {
    const match = matchAt(link, text, at);
    if (match === null) return undefined;
    const label = (match[1] ?? '').replace(/!\[([^[\]]*)\]\([^\s()]*\)/g, '$1').replace(/\*\*|__|`/g, '');
    return toLink(match, words(label).trim() || (match[2] ?? ''));
  }
  if (character === 'h' || character === 'H') {
    if (at > 0 && /\w/.test(text[at - 1] ?? '')) return undefined;
    const written = trimAddress(matchAt(address, text, at)?.[0] ?? '');
    const href = hrefOf(written);
    return href === undefined ? undefined : { pieces: [{ text: words(written), href }], end: at + written.length };
  }
  if (inner || (character !== '*' && character !== '_')) return undefined;
  // Inside a word, an underscore is a letter.
  if (character === '_' && at > 0 && /\w/.test(text[at - 1] ?? '')) return undefined;
  for (const [expression, style] of [[strong, 'strong'] as const, [emphasis, 'emphasis'] as const]) {
    const match = matchAt(expression, text, at);
    if (match === null) continue;
    const pieces = readPieces(match[1] ?? match[2] ?? '', true).map((piece) => ({ style, ...piece }));
    return { pieces, end: end(match) };
  }
  return undefined;
};

const marks = /[\\`![hH*_]/g;

/** The pieces of one line. */
const readPieces = (line: string, inner = false): Piece[] => {
  const pieces: Piece[] = [];
  let plain = '';
  const flush = () => {
    if (plain !== '') pieces.push({ text: words(plain) });
    plain = '';
  };
  for (let at = 0; at < line.length; ) {
    marks.lastIndex = at;
    const next = marks.exec(line)?.index ?? line.length;
    plain += line.slice(at, next);
    if (next === line.length) break;
    const found = readMark(line, next, inner);
    if (found === undefined) {
      plain += line[next];
      at = next + 1;
    } else if (
      found.pieces.length === 1 &&
      found.pieces[0]?.href === undefined &&
      found.pieces[0]?.style === undefined
    ) {
      plain += found.pieces[0]?.text ?? '';
      at = found.end;
    } else {
      flush();
      pieces.push(...found.pieces);
      at = found.end;
    }
  }
  flush();
  return pieces;
};

const bullet = /^\s{0,40}([-*+•·]|\d{1,9}[.)])\s{1,40}(?=\S)/;
const rule = /^ {0,3}(?:(?:- {0,3}){3,}|(?:\* {0,3}){3,}|(?:_ {0,3}){3,})$/;
const heading = /^ {0,3}#{1,6}(?=\s|$)/;
const fence = /^ {0,3}(?:```|~~~)/;

const withoutClosing = (text: string): string => {
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return (end === 0 || /\s/.test(text[end - 1] ?? '') ? text.slice(0, end) : text).trim();
};

/** Converts Markdown, with any HTML in it, to what may be shown. */
export const readMarkdown = (text: string): Block[] => {
  const blocks: Block[] = [];
  let open: { kind: 'paragraph' | 'list'; ordered: boolean; lines: string[] } | undefined;
  let fenced: string[] | undefined;
  const close = () => {
    if (open === undefined) return;
    const lines = open.lines
      .map((one) => readPieces(one))
      .filter((pieces) => pieces.some((piece) => piece.text.trim() !== ''));
    const { kind, ordered } = open;
    if (lines.length > 0) blocks.push(kind === 'list' ? { kind, ordered, lines } : { kind, lines });
    open = undefined;
  };
  const addHeading = (written: string) => {
    close();
    const line = readPieces(written);
    if (line.some((piece) => piece.text.trim() !== '')) blocks.push({ kind: 'heading', line });
  };
  const endCode = () => {
    const content = fenced?.join('\n') ?? '';
    if (content.trim() !== '') blocks.push({ kind: 'code', text: content });
    fenced = undefined;
  };
  for (const raw of withoutMarkup(readable(text)).split('\n')) {
    if (fence.test(raw)) {
      if (fenced === undefined) {
        close();
        fenced = [];
      } else endCode();
      continue;
    }
    if (fenced !== undefined) {
      fenced.push(decodeReferences(raw));
      continue;
    }
    const line = raw.replace(/^ {0,3}(?:> ?){1,9}/, '').trimEnd();
    const trimmed = line.trim();
    const underline = /^(?:={2,}|-{2,})$/.test(trimmed) && open?.kind === 'paragraph' && open.lines.length === 1;
    const item = bullet.exec(line);
    if (trimmed === '') close();
    else if (underline) {
      const [written = ''] = open?.lines ?? [];
      open = undefined;
      addHeading(written);
    } else if (rule.test(line)) {
      close();
      blocks.push({ kind: 'rule' });
    } else if (heading.test(line)) addHeading(withoutClosing(line.replace(heading, '').trim()));
    else if (item !== null) {
      const ordered = /\d/.test(item[1] ?? '');
      if (open?.kind !== 'list' || open.ordered !== ordered) {
        close();
        open = { kind: 'list', ordered, lines: [] };
      }
      open.lines.push(line.slice(item[0].length));
    } else if (open?.kind === 'list') open.lines[open.lines.length - 1] += ` ${trimmed}`;
    else {
      open ??= { kind: 'paragraph', ordered: false, lines: [] };
      open.lines.push(trimmed);
    }
  }
  close();
  endCode();
  return blocks;
};
