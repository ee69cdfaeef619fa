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
const versions = String.raw`\bios ?${version}${further}{0,5}${onwards}?`;
const severalVersions = String.raw`\bios ?${version}(?:${further}{1,5}${onwards}?|${onwards})`;

// In a name, versions in brackets or after "for" count; in a description only versions in brackets, after words that
// claim support ("support" itself where a sentence begins with it), or several after "for".
const inName = new RegExp(
  String.raw`[([][^()[\]]{0,24}?(?<bracketed>${versions})[^()[\]]{0,24}[)\]]|\bfor (?<meant>${versions})(?! ?-?style)`,
  'i',
);
const inDescription = new RegExp(
  String.raw`[([](?:for |supports )?(?<bracketed>${versions})(?: only)?[)\]]|(?:\b(?:supports|compatible with|works (?:on|with)|requires)|(?:^|[.!?;] )support) (?<claimed>${versions})|\bfor (?<meant>${severalVersions})`,
  'i',
);
const denied = /\b(?:not|never|no longer|cannot|without|except)\b|n['’]t\b|\b(?:un|in)(?:supported|compatible)/i;
const around = 32;
// Of what stands in brackets with versions: words by which they are no versions that it runs on, or are the end of some.
const otherwise =
  /[<>≤≥]|\b(?:no|pre|before|until|till|up to|below|under|above|after|from|since|(?:old|new)er than|min(?:imum)?|max(?:imum)?|broken|untested|soon|like|look|style)\b/i;

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

const readBy = (pattern: RegExp, text: string | null | undefined): TextStatement[] => {
  const looked = (text ?? '').slice(0, readSoFar).replace(/\s+/g, ' ');
  if (!/ios ?\d/i.test(looked)) return [];
  const match = pattern.exec(looked);
  if (match === null) return [];
  const { bracketed, claimed, meant } = match.groups ?? {};
  if (denied.test(looked.slice(Math.max(0, match.index - around), match.index))) return [];
  const written = (bracketed ?? claimed ?? meant ?? '').trim();
  const besides = bracketed === undefined ? '' : match[0].replace(bracketed, ' ');
  if (denied.test(besides) || otherwise.test(besides)) return [];
  const named = readVersions(written);
  return named.length === 0 ? [] : [{ written, named }];
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
