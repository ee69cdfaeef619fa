// Markdown may contain HTML, and "raw" texts of depictions are HTML. It is never shown as HTML: the words of known
// elements stay and their tags are removed. Everything else is text, which pages escape.

// Elements whose content is not text for readers (HTML, sections 4.2, 4.8, 4.12).
const silent = new Set(['script', 'style', 'head', 'title', 'template', 'noscript', 'iframe', 'object', 'svg', 'math']);
const ofLines = new Set(
  'address article aside blockquote center dd div dl dt fieldset figure footer form header hr main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);
const ofWords = new Set(
  'a abbr b bdi bdo big body cite code del dfn em embed figcaption font html i img input ins kbd label link mark meta q s samp small span strike strong sub summary sup details tbody td tfoot th thead tt u var video audio source picture button select option textarea base'.split(
    ' ',
  ),
);

const tag = /<(?:!--|(\/?)([a-z][a-z0-9]{0,20})(?:\s[^<>]*|\/)?>)/gi;

const closerOf = new Map([...silent].map((name) => [name, new RegExp(`</${name}\\s*>`, 'gi')] as const));

/** The end of a comment, or of an element whose content is not shown; undefined if it never ends. */
const endOf = (text: string, from: number, name: string | undefined): number | undefined => {
  if (name === undefined) {
    const end = text.indexOf('-->', from);
    return end < 0 ? undefined : end + 3;
  }
  const closer = closerOf.get(name) as RegExp;
  closer.lastIndex = from;
  return closer.exec(text) === null ? undefined : closer.lastIndex;
};

/** The words that replace a tag. */
const standIn = (name: string, closes: boolean, whole: string): string | undefined => {
  if (name === 'br') return '\n';
  if (name === 'li') return closes ? '' : '\n- ';
  if (/^h[1-6]$/.test(name)) return closes ? '\n\n' : `\n\n${'#'.repeat(Number(name[1]))} `;
  if (ofLines.has(name)) return '\n\n';
  if (ofWords.has(name) || silent.has(name)) return '';
  return whole;
};

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  bull: '•',
};

/** Replaces character references. Anything else stays as it is. */
export const decodeReferences = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] ?? whole) : whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });

/** The text without its markup, in linear time. */
export const withoutMarkup = (text: string): string => {
  let result = '';
  let at = 0;
  tag.lastIndex = 0;
  for (let match = tag.exec(text); match !== null; match = tag.exec(text)) {
    const [whole, slash, written] = match;
    const name = written?.toLowerCase();
    result += text.slice(at, match.index);
    at = tag.lastIndex;
    const opensSilence = name === undefined || (slash === '' && silent.has(name) && !whole.endsWith('/>'));
    if (opensSilence) {
      const end = endOf(text, at, name);
      // As in browsers, an element that is never closed extends to the end.
      if (end === undefined) return result;
      at = end;
      tag.lastIndex = end;
    } else result += standIn(name, slash === '/', whole);
  }
  return result + text.slice(at);
};
