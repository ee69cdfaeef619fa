import { limitNote, limits } from '../contract/limits.ts';
import { type HashAlgorithm, hashAlgorithms, hexLength } from './checksums.ts';
import { isDateOfApt, parseDate } from './date.ts';
import { decodeText, trimmedSlice } from './text.ts';
import { webUrl } from './urls.ts';

/** One file that Release lists: its path without a leading `./`, its size in bytes, its hashes in lower-case hex. */
export interface ReleaseEntry {
  path: string;
  size: number;
  md5?: string;
  sha1?: string;
  sha256?: string;
  sha512?: string;
}

/** What can be wrong with the text of a Release file. The rest of the file stays usable. */
type ReleaseFinding =
  | 'release-line-malformed'
  | 'release-blank-line'
  | 'release-field-repeated'
  | 'release-field-oversized'
  | 'release-encoding-not-utf8'
  | 'release-hash-malformed'
  | 'release-hash-empty'
  | 'release-entry-conflict'
  | 'release-architecture-singular'
  | 'release-payment-gateway-malformed';

/** A Release file. Absent and blank fields are null; `date` and `validUntil` are as written. */
export interface ReleaseFile {
  origin: string | null;
  label: string | null;
  suite: string | null;
  codename: string | null;
  version: string | null;
  description: string | null;
  date: string | null;
  validUntil: string | null;
  architectures: string[];
  components: string[];
  /** The kinds of index that repeat packages of every architecture, so that `binary-all` adds nothing to them. */
  noSupportForAll: string[];
  /** The https URL of `Payment-Gateway`. */
  paymentGateway: string | null;
  acquireByHash: boolean;
  files: ReadonlyMap<string, ReleaseEntry>;
  findings: { code: ReleaseFinding; detail: string }[];
}

type Report = (code: ReleaseFinding, detail: string) => void;
type HashBlocks = Map<HashAlgorithm, HashBlock>;
type HashBlock = Map<string, { size: number; digest: string; field: number }>;

const hashFields: ReadonlyMap<string, HashAlgorithm> = new Map([
  ['md5sum', 'md5'],
  ['sha1', 'sha1'],
  ['sha256', 'sha256'],
  ['sha512', 'sha512'],
]);

const hashLine = /^([0-9A-Za-z]+)[ \t]+([0-9]+)[ \t]+(\S.*)$/;
const maxFindingsPerCode = 100;
const longestField = limits.releaseFieldBytes;

// As in the fields of packages (packages-index.ts).
const unprintable = /[^\P{Cc}\n]/gu;

const isTooLong = (text: string): boolean => Buffer.byteLength(JSON.stringify(text)) - 2 > longestField;

/** The beginning of a field, as much as may be published. */
const shorten = (text: string): string => {
  let short = text.slice(0, longestField);
  while (isTooLong(short)) short = short.slice(0, Math.floor(short.length * 0.9));
  // The cut may have split a character of two units.
  return (short.length < text.length ? short.replace(/[\ud800-\udbff]$/, '') : short).toWellFormed();
};

/**
 * Reads a Release file, or the content of an InRelease, and accepts what repositories actually write: empty lines
 * between the fields, hash lines without indentation, `Architecture` for `Architectures`, any line ends. Never throws,
 * whatever the bytes. Format: https://wiki.debian.org/DebianRepository/Format.
 */
export const parseRelease = (text: Uint8Array): ReleaseFile => {
  const findings: ReleaseFile['findings'] = [];
  const counts = new Map<ReleaseFinding, number>();
  const report: Report = (code, detail) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    if (count <= maxFindingsPerCode) findings.push({ code, detail: detail.slice(0, 80).toWellFormed() });
  };

  const { lines, blocks } = readLines(text, report);
  const field = (name: string): string | null => {
    const whole = (lines.get(name) ?? []).join('\n').trim();
    const short = shorten(whole);
    if (short.length < whole.length) report('release-field-oversized', `${name} (${limitNote('releaseFieldBytes')})`);
    return short.replaceAll('\t', ' ').replace(unprintable, '').trim() || null;
  };
  const words = (value: string | null): string[] => (value === null ? [] : value.split(/[\s,]+/).filter(Boolean));
  const singular = field('architecture');
  if (singular !== null) report('release-architecture-singular', singular);
  return {
    origin: field('origin'),
    label: field('label'),
    suite: field('suite'),
    codename: field('codename'),
    version: field('version'),
    description: field('description'),
    date: field('date'),
    validUntil: field('valid-until'),
    architectures: words(field('architectures') ?? singular),
    components: words(field('components')),
    noSupportForAll: words(field('no-support-for-architecture-all')),
    paymentGateway: paymentGateway(field('payment-gateway'), report),
    acquireByHash: field('acquire-by-hash')?.toLowerCase() === 'yes',
    files: joinBlocks(blocks, report),
    findings,
  };
};

const readLines = (bytes: Uint8Array, report: Report): { lines: Map<string, string[]>; blocks: HashBlocks } => {
  // A field may have a million lines, so they are joined once, and only if the field is used.
  const lines = new Map<string, string[]>();
  const blocks: HashBlocks = new Map();
  let hashField = 0;
  let current: string | null = null;
  let block: HashAlgorithm | null = null;
  let blankLine = false;

  for (const line of decodedLines(bytes, report)) {
    const content = trimmedSlice(line, 0, line.length);
    if (content === '') {
      blankLine ||= lines.size > 0 || blocks.size > 0;
      continue;
    }
    if (line.startsWith('#')) continue;
    if (blankLine) report('release-blank-line', content);
    blankLine = false;

    const indented = line.startsWith(' ') || line.startsWith('\t');
    if (block !== null && (indented || hashLine.test(content))) {
      readHashLine(content, block, blocks, hashField, report);
      continue;
    }
    if (indented) {
      if (current === null) report('release-line-malformed', content);
      else lines.get(current)?.push(content);
      continue;
    }
    const match = /^([!-9;-~]+)[ \t]*:(.*)$/s.exec(content);
    const name = match?.[1]?.toLowerCase() ?? null;
    block = name === null ? null : (hashFields.get(name) ?? null);
    current = block === null ? name : null;
    if (name === null) report('release-line-malformed', content);
    else if (block !== null) {
      hashField++;
      if (!blocks.has(block)) blocks.set(block, new Map());
    } else {
      if (lines.has(name)) report('release-field-repeated', name);
      lines.set(name, [(match?.[2] ?? '').trim()]);
    }
  }
  return { lines, blocks };
};

function* decodedLines(bytes: Uint8Array, report: Report): Generator<string> {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const body = bytes.subarray(start);
  const whole = decodeText(body);
  if (whole.utf8) {
    yield* whole.text.split('\n');
    return;
  }
  for (let at = 0; at < body.length; ) {
    const newline = body.indexOf(0x0a, at);
    const end = newline === -1 ? body.length : newline;
    const line = decodeText(body.subarray(at, end));
    if (!line.utf8) report('release-encoding-not-utf8', line.text.trim());
    yield line.text;
    at = end + 1;
  }
}

/** Removes any number of leading `./` from a path. */
const withoutDot = (path: string): string => {
  let start = 0;
  while (path.startsWith('./', start)) for (start += 2; path[start] === '/'; ) start++;
  return path.slice(start);
};

// As in apt: if two lines of one field are about the same file the first counts, and if a field is repeated the last.
const readHashLine = (
  line: string,
  algorithm: HashAlgorithm,
  blocks: HashBlocks,
  field: number,
  report: Report,
): void => {
  const [, digest = '', size = '', path = ''] = hashLine.exec(line) ?? [];
  const bytes = Number(size);
  const name = withoutDot(path);
  if (
    digest.length !== hexLength[algorithm] ||
    !/^[0-9a-fA-F]+$/.test(digest) ||
    !Number.isSafeInteger(bytes) ||
    !name
  ) {
    report('release-hash-malformed', `${algorithm}: ${line}`);
    return;
  }
  const block = blocks.get(algorithm);
  const entry = { size: bytes, digest: digest.toLowerCase(), field };
  const before = block?.get(name);
  if (before && (before.size !== entry.size || before.digest !== entry.digest)) {
    report('release-entry-conflict', `${algorithm}: ${name}`);
  }
  if (before?.field !== field) block?.set(name, entry);
};

/** Combines the hashes of each path. If blocks disagree about a size, the one with the stronger hash is believed. */
const joinBlocks = (blocks: HashBlocks, report: Report): Map<string, ReleaseEntry> => {
  const files = new Map<string, ReleaseEntry>();
  for (const algorithm of hashAlgorithms) {
    const block = blocks.get(algorithm);
    if (block?.size === 0) report('release-hash-empty', algorithm);
    for (const [path, { size, digest }] of block ?? []) {
      const entry = files.get(path) ?? { path, size };
      if (entry.size !== size) report('release-entry-conflict', `size: ${path}`);
      entry.size = size;
      entry[algorithm] = digest;
      files.set(path, entry);
    }
  }
  return files;
};

const paymentGateway = (value: string | null, report: Report): string | null => {
  if (value === null) return null;
  const url = webUrl(value);
  if (url?.startsWith('https://')) return url;
  report('release-payment-gateway-malformed', value);
  return null;
};

/** What a Release says about its own age for which apt would refuse it. */
export type ValidityFinding = 'release-expired' | 'release-in-future' | 'release-date-unreadable';

// apt's tests accept a Date one hour ahead and refuse one twelve hours ahead (Acquire::Max-FutureTime in apt.conf(5)).
const maxFutureMs = 10 * 60 * 60 * 1000;

/**
 * Checks Date and Valid-Until against `now`, with apt's defaults. An absent field is no finding. Returns every finding
 * with its text.
 */
export const checkValidity = (
  release: Pick<ReleaseFile, 'date' | 'validUntil'>,
  now: Date,
): { code: ValidityFinding; detail: string }[] => {
  const findings: { code: ValidityFinding; detail: string }[] = [];
  const date = readableDate('Date', release.date, findings);
  const until = readableDate('Valid-Until', release.validUntil, findings);
  if (date !== null && date > now.getTime() + maxFutureMs) {
    findings.push({ code: 'release-in-future', detail: release.date ?? '' });
  }
  if (until !== null && until < now.getTime()) {
    findings.push({ code: 'release-expired', detail: release.validUntil ?? '' });
  }
  return findings;
};

const readableDate = (
  field: string,
  text: string | null,
  findings: { code: ValidityFinding; detail: string }[],
): number | null => {
  if (text === null) return null;
  const date = parseDate(text);
  const detail = `${field}: ${text.slice(0, 80).toWellFormed()}`;
  if (date === null || !isDateOfApt(text)) findings.push({ code: 'release-date-unreadable', detail });
  return date?.getTime() ?? null;
};

export { parseDate };
