import { endOfParts, endOfVersions, parseVersion, uniteRanges, type VersionRanges } from './ios-versions.ts';

// What the text of a package says. People write for people: "like iOS 11", "import iOS 15 shortcuts on iOS 13". So only
// a few phrases are read that clearly say what something runs on. Whatever they say is shown as a quotation and never
// excludes a package.

/** Words of a name or description, and the versions that they name; none if they only name a build. */
export interface TextStatement {
  readonly written: string;
  readonly named: VersionRanges | undefined;
}

const dash = '(?:-|–|—|~|to|through)';
const version = String.raw`\d{1,2}(?:\.\d{1,2}){0,2}(?:\.x)?(?![\w.]*\d)`;
const further = `(?: ?(?:${dash}|/|,|&|and) ?(?:ios ?)?${version})`;
const orNewer = String.raw`(?: ?\+| ?(?:(?:and|or) |& ?)(?:up(?! to\b)|above|later|newer|higher)\b)`;
const orOlder = String.raw`(?: (?:and |or |& ?)(?:below|down|under|older|earlier|lower)\b)`;
const onwards = `(?:${orNewer}|${orOlder})`;
/** Versions as people list them: `13`, `13+`, `13 - 16`, `11, 12 & 13`, `9/10`, `12 and up`, `7 and below`. */
const versions = String.raw`\bios ?${version}${further}{0,15}${onwards}?`;
const severalVersions = String.raw`\bios ?${version}(?:${further}{1,15}${onwards}?|${onwards})`;

// Where a sentence, a line or an item of a list begins or ends; see toLines.
const begins = String.raw`(?:(?:^|\n)(?:- )?|[.!?;] )`;
const ends = String.raw`(?= ?(?:$|[\n.!?;]))`;
const inBrackets = (group: string): string =>
  String.raw`[([](?:for |supports )?(?<${group}>${versions})(?: only)?[)\]]`;

// In a name, versions in brackets or after "for" count; in a description only versions in brackets where a sentence
// begins or ends (elsewhere they are those of a part of it), after words that claim support (some only where a sentence
// begins with them), before "are supported" or "compatible", or several after "for".
const inName = new RegExp(
  String.raw`[([][^()[\]]{0,24}?(?<bracketed>${versions})[^()[\]]{0,24}[)\]]|\bfor (?<meant>${versions})`,
  'gi',
);
const inDescription = new RegExp(
  [
    `${begins}${inBrackets('opening')}`,
    `${inBrackets('closing')}${ends}`,
    String.raw`\b(?:supports|compatible with|works (?:on|with|for)|requires) (?<claimed>${versions})`,
    String.raw`${begins}(?:support|updated (?:by [\w.@]{1,24} )?to work (?:on|with)) (?<begun>${versions})`,
    `${begins}(?:only )?tested on (?<tested>${versions})`,
    `(?:${begins}|, )(?:only )?(?<subject>${versions}) (?:(?:is|are) supported|compatible)${ends}`,
    String.raw`\bfor (?<several>${severalVersions})`,
  ].join('|'),
  'gi',
);
const denied = /\b(?:not|never|no longer|cannot|without|except)\b|n['’]t\b|\b(?:un|in)(?:supported|compatible)/i;
const around = 32;
const longestAfter = 64;
// Of what stands in brackets with versions: words by which they are no versions that it runs on, or are the end of some.
const otherwise =
  /[<>≤≥]|\b(?:no|pre|before|until|till|up to|below|under|above|after|from|since|(?:old|new)er than|min(?:imum)?|max(?:imum)?|broken|untested|soon|like|look|style)\b/i;

// What follows versions that are not all that is meant, as in `iOS 12 and up to 14`, or not what it runs on, as in
// `iOS 7-style` and `iOS 13 dark mode`. Of words, only those may follow that go on with the sentence, or that say of
// what the versions are.
const harmless = [
  '(?:and|or|but|only|with|without|on|by|if|when|because|as|for|in|at|to|via|using|too|also|now|is|are|support(?:ed)?|compatible)',
  '(?:devices?|users|i?phones?|ipads?|firmwares?|versions?|jailbreaks?|jailbroken|edition|port|beta)',
  String.raw`(?:root(?:less|full?|hide)|arm64e?|a\d+)`,
].join('|');
const goesOn = new RegExp(
  [
    String.raw`^(?:['’]s\b|-?\w)`,
    String.raw`^ ?(?:\.\.|…|-?>|→|(?:and |or |& ?)?(?:up to|until|till)\b|${dash} (?:the )?(?:latest|newest|current)\b)`,
    String.raw`^(?: ?\([^()]{0,40}\))? ?(?:${dash}|/|,|&|and) ?(?:ios ?)?\d`,
    String.raw`^ (?!(?:${harmless})\b)\w`,
  ].join('|'),
  'i',
);
const deniedBehind = /^ ?\([^()]{0,40}?(?:\bnot\b|n['’]t\b|\bun(?:tested|supported)\b)/i;
// What a test came to, in the same sentence.
const failed = /^[^\n.!?;]*?(?:n['’]t\b|\b(?:not|fail(?:s|ed)?|crash(?:e[sd])?|broken)\b)/i;
// What is mended for some versions may run on others.
const mended = /\b(?:fix(?:e[sd])?|crash(?:e[sd])?|bugs?|issues?|problems?)\b/i;

const spelledVersion = new RegExp(String.raw`(${version})(?: ?(${dash})(?= ?(?:ios ?)?\d))?`, 'gi');
const openUp = new RegExp(`${orNewer}$`, 'i');
const openDown = new RegExp(`${orOlder}$`, 'i');

const readNumber = (spelled: string): [from: number, end: number] | undefined => {
  const plain = spelled.replace(/\.x$/i, '');
  const from = parseVersion(plain);
  return from === undefined ? undefined : [from, endOfParts(from, plain.split('.').length)];
};

/** The versions in such a list. */
const readVersions = (text: string): VersionRanges => {
  const named: [number, number][] = [];
  let before: [number, number] | undefined;
  for (const [, spelled = '', dash] of text.matchAll(spelledVersion)) {
    const one = readNumber(spelled);
    if (one === undefined) continue;
    const [start, end] = one;
    // From the greater to the smaller too.
    named.push(before === undefined ? one : [Math.min(before[0], start), Math.max(before[1], end)]);
    before = dash === undefined ? undefined : one;
  }
  const last = named.at(-1);
  if (openUp.test(text) && last !== undefined) last[1] = endOfVersions;
  if (openDown.test(text) && last !== undefined) last[0] = 0;
  return uniteRanges(named);
};

/** How many characters of a stranger's text are read. What follows is usually a change log. */
const readSoFar = 2000;

// A line of a change log, as in `1.0.2: Hidden on iOS 9`, says what changed.
const changes = /(^|\n)(?:[-*+•·–] ?)?v?\d+(?:\.\d+)+[\w~-]{0,12} ?:[^\n]*/gi;
const itemMark = /(^|\n)[-*+•·–](?! ?\d) ?/g;
const lineOfSentence = /\n(?!- \D|\p{Lu})/gu;

/**
 * A text with single blanks, and with line breaks only before items of lists, which begin with `- `, and before
 * capitals. Other lines go on with a sentence.
 */
const toLines = (text: string): string =>
  text
    .replace(/\s+/g, (blank) => (blank.includes('\n') ? '\n' : ' '))
    .replace(changes, '$1')
    .replace(itemMark, '$1- ')
    .replace(lineOfSentence, ' ');

const isInItem = (lines: string, at: number): boolean => lines.startsWith('- ', lines.lastIndexOf('\n', at) + 1);

const readBy = (pattern: RegExp, text: string | null | undefined): TextStatement[] => {
  const start = (text ?? '').slice(0, readSoFar);
  if (!/ios\s*\d/i.test(start)) return [];
  const looked = toLines(start);
  for (const match of looked.matchAll(pattern)) {
    const { bracketed, opening, closing, claimed, begun, tested, subject, meant, several } = match.groups ?? {};
    // In an item they are the versions of that item.
    if ((opening ?? closing) !== undefined && isInItem(looked, match.index)) continue;
    const enclosed = bracketed ?? opening ?? closing;
    const written = enclosed ?? claimed ?? begun ?? tested ?? subject ?? meant ?? several ?? '';
    const before = looked.slice(Math.max(0, match.index - around), match.index);
    if (denied.test(before)) return [];
    if (several !== undefined && mended.test(before)) continue;
    const behind = match.index + match[0].indexOf(written) + written.length;
    const after = looked.slice(behind, behind + longestAfter);
    if (goesOn.test(after)) continue;
    if (deniedBehind.test(after)) return [];
    if (tested !== undefined && failed.test(after)) return [];
    const besides = enclosed === undefined ? '' : match[0].replace(enclosed, ' ');
    if (denied.test(besides) || otherwise.test(besides)) return [];
    const named = readVersions(written);
    return named.length === 0 ? [] : [{ written, named }];
  }
  return [];
};

/** The build that a name mentions, as in `Frame (Rootless)`. */
const readBuild = (name: string | null | undefined): TextStatement[] => {
  const [written] = /\broot(?:less|full?|hide)\b/i.exec((name ?? '').slice(0, readSoFar)) ?? [];
  return written === undefined ? [] : [{ written, named: undefined }];
};

/** What name and description say; about versions only the name, if it mentions any. Never throws. */
export const readText = (name: string | null | undefined, description: string | null | undefined): TextStatement[] => {
  const byName = readBy(inName, name);
  return [...readBuild(name), ...(byName.length > 0 ? byName : readBy(inDescription, description))];
};
