import { type LimitName, limitNote, limits } from '../contract/limits.ts';
import { isReadByApt } from './relations.ts';
import type { Stanza } from './stanza.ts';
import { webUrl } from './urls.ts';
import { isValidVersion } from './version.ts';

/**
 * One package as its stanza describes it. Absent and blank fields are null. `package`, `version`, `architecture` and
 * `filename` are as written. `size` and `installedSize` are in bytes. URLs are http(s), in a form that strict parsers
 * accept.
 */
export interface PackageStanza {
  package: string;
  version: string;
  architecture: string;
  filename: string;
  name: string | null;
  section: string | null;
  maintainer: string | null;
  author: string | null;
  /** The synopsis, then the extended text with its line breaks. */
  description: string | null;
  tags: string[] | null;
  /** 64 lower-case hex digits. */
  sha256: string | null;
  /** 0 if the stanza does not say. */
  size: number;
  installedSize: number | null;
  icon: string | null;
  header: string | null;
  nativeDepiction: string | null;
  depiction: string | null;
  homepage: string | null;
  depends: string | null;
  preDepends: string | null;
  recommends: string | null;
  suggests: string | null;
  conflicts: string | null;
  breaks: string | null;
  replaces: string | null;
  provides: string | null;
  enhances: string | null;
  /** How it serves other architectures, such as `allowed` and `foreign`. */
  multiArch: string | null;
  /** Whether every system of its kind needs it. */
  essential: boolean;
  /** `required`, `important`, `standard`, `optional` or `extra`, or any other text in the field. */
  priority: string | null;
}

type Identifier = 'package' | 'version' | 'architecture' | 'filename';

/**
 * Why a stanza was left out: a `missing` field is absent or blank; a `malformed` one contains control characters or a
 * line break, or is too long.
 */
type DroppedFinding = `${Identifier}-missing` | `${Exclude<Identifier, 'version'>}-malformed` | 'version-unreadable';

/** What can be wrong with a stanza. Findings about a value rather than an identifier keep the package. */
export type PackageFinding =
  | DroppedFinding
  | 'version-malformed'
  | 'field-oversized'
  | 'relation-malformed'
  | 'size-missing'
  | 'size-malformed'
  | 'installed-size-malformed'
  | 'sha256-malformed'
  | 'icon-malformed'
  | 'header-malformed'
  | 'native-depiction-malformed';

export type ParsedPackage =
  | {
      ok: true;
      value: PackageStanza;
      findings: PackageFinding[];
      /** Which fields a finding is about, if it is about several: for the example of it. */
      fields: Partial<Record<PackageFinding, string>>;
    }
  | { ok: false; finding: PackageFinding };

const controlCharacter = /\p{Cc}/u;
const unprintable = /[^\P{Cc}\n]/gu;

/**
 * Reads one stanza of a Packages index. A stanza without a usable Package, Version, Architecture or Filename is left
 * out. A version that dpkg would refuse is kept as written, with a finding. Never throws.
 */
export const parsePackage = (given: Stanza): ParsedPackage => {
  const { stanza, oversized } = withinLimits(given);
  const name = stanza.get('package') ?? '';
  const version = stanza.get('version') ?? '';
  const architecture = stanza.get('architecture') ?? '';
  const filename = stanza.get('filename') ?? '';
  const dropped =
    checkIdentifier(name, 'package-missing', 'package-malformed', limits.identifierCharacters) ??
    (isTooLong(name) ? 'package-malformed' : undefined) ??
    checkIdentifier(version, 'version-missing', 'version-unreadable', limits.identifierCharacters) ??
    checkIdentifier(architecture, 'architecture-missing', 'architecture-malformed', limits.identifierCharacters) ??
    checkIdentifier(filename, 'filename-missing', 'filename-malformed', limits.lineCharacters);
  if (dropped) return { ok: false, finding: dropped };

  const fields: Partial<Record<PackageFinding, string>> = {};
  // Too long: they count as absent.
  if (oversized.length > 0) fields['field-oversized'] = oversized.join(', ');
  const unread = unreadByApt(stanza);
  if (unread !== undefined) fields['relation-malformed'] = unread;
  const findings = Object.keys(fields) as PackageFinding[];
  if (!isValidVersion(version)) findings.push('version-malformed');
  const value: PackageStanza = {
    package: name,
    version,
    architecture,
    filename,
    name: text(stanza, 'name'),
    section: text(stanza, 'section'),
    maintainer: text(stanza, 'maintainer'),
    author: text(stanza, 'author'),
    description: description(stanza.get('description')),
    tags: tags(text(stanza, 'tag') ?? text(stanza, 'tags')),
    sha256: sha256(stanza, findings),
    size: size(stanza, findings),
    installedSize: installedSize(stanza, findings),
    icon: checkedUrl(text(stanza, 'icon'), 'icon-malformed', findings),
    header: checkedUrl(text(stanza, 'header'), 'header-malformed', findings),
    nativeDepiction: nativeDepiction(stanza, findings),
    depiction: webUrl(text(stanza, 'depiction')),
    homepage: webUrl(text(stanza, 'homepage')),
    depends: text(stanza, 'depends'),
    preDepends: text(stanza, 'pre-depends'),
    recommends: text(stanza, 'recommends'),
    suggests: text(stanza, 'suggests'),
    conflicts: text(stanza, 'conflicts'),
    breaks: text(stanza, 'breaks'),
    replaces: text(stanza, 'replaces'),
    provides: text(stanza, 'provides'),
    enhances: text(stanza, 'enhances'),
    multiArch: text(stanza, 'multi-arch'),
    essential: text(stanza, 'essential')?.toLowerCase() === 'yes',
    priority: text(stanza, 'priority'),
  };
  return { ok: true, value, findings, fields };
};

// Decisions, section 3: longer identifiers cannot be requested. The path of the file would also exceed what disks
// accept.
const longestPackage = limits.identifierCharacters;

// Names are shown on one line; the other fields are lists and texts. Identifiers are checked separately.
const longest: ReadonlyMap<string, LimitName> = new Map([
  ...['name', 'section', 'maintainer', 'author', 'icon', 'header', 'native-depiction', 'sileodepiction'].map(
    (field) => [field, 'lineCharacters'] as const,
  ),
  ...['depiction', 'homepage'].map((field) => [field, 'lineCharacters'] as const),
  ...['description', 'tag', 'tags', 'depends', 'pre-depends', 'recommends', 'suggests', 'conflicts', 'breaks'].map(
    (field) => [field, 'fieldCharacters'] as const,
  ),
  ...['replaces', 'enhances'].map((field) => [field, 'fieldCharacters'] as const),
  ['provides', 'providesCharacters'],
]);

/** The stanza without its fields that are too long, and the names of those. */
const withinLimits = (stanza: Stanza): { stanza: Stanza; oversized: string[] } => {
  const oversized: string[] = [];
  let rest: Map<string, string> | undefined;
  for (const [name, value] of stanza) {
    if (value.length <= limits.lineCharacters) continue;
    const limit = longest.get(name);
    if (limit === undefined || value.length <= limits[limit]) continue;
    rest ??= new Map(stanza);
    rest.delete(name);
    oversized.push(`${name} (${limitNote(limit)})`);
  }
  return { stanza: rest ?? stanza, oversized };
};

const relationFields = [
  'depends',
  'pre-depends',
  'recommends',
  'suggests',
  'conflicts',
  'breaks',
  'replaces',
  'provides',
  'enhances',
];

/** The first field of relations that APT cannot read, with the beginning of its text. */
const unreadByApt = (stanza: Stanza): string | undefined => {
  const name = relationFields.find((field) => !isReadByApt(stanza.get(field) ?? ''));
  return name && `${name}: ${(stanza.get(name) ?? '').slice(0, 80)}`;
};

const isTooLong = (name: string): boolean =>
  name.length > longestPackage || (name.length * 3 > longestPackage && Buffer.byteLength(name) > longestPackage);

const checkIdentifier = (
  value: string,
  missing: DroppedFinding,
  malformed: DroppedFinding,
  longest: number,
): DroppedFinding | undefined => {
  if (value === '') return missing;
  return value.length > longest || controlCharacter.test(value) ? malformed : undefined;
};

/** A field whose value is one line: folded lines are joined by a blank. */
const text = (stanza: Stanza, field: string): string | null => {
  const value = stanza.get(field);
  if (value === undefined || value === '') return null;
  if (!controlCharacter.test(value)) return value;
  const line = value
    .replaceAll('\t', ' ')
    .replace(unprintable, '')
    .split('\n')
    .map((part) => part.trim())
    .join(' ')
    .trim();
  return line === '' ? null : line;
};

/** Debian policy §5.6.13: a line with a single dot stands for an empty one. */
const description = (value: string | undefined): string | null => {
  if (value === undefined || value === '') return null;
  if (!controlCharacter.test(value)) return value;
  const whole = value
    .replaceAll('\t', ' ')
    .replace(unprintable, '')
    .split('\n')
    .map((line) => (line.trim() === '.' ? '' : line.trimEnd()))
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
  return whole === '' ? null : whole;
};

const tags = (value: string | null): string[] | null => {
  if (value === null) return null;
  const list = value.split(',').map((tag) => tag.trim());
  const present = list.filter((tag) => tag !== '');
  return present.length === 0 ? null : present;
};

const sha256 = (stanza: Stanza, findings: PackageFinding[]): string | null => {
  const value = stanza.get('sha256');
  if (value === undefined || value === '') return null;
  if (/^[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase();
  findings.push('sha256-malformed');
  return null;
};

const size = (stanza: Stanza, findings: PackageFinding[]): number => {
  const value = stanza.get('size');
  if (value === undefined || value === '') {
    findings.push('size-missing');
    return 0;
  }
  const bytes = wholeNumber(value);
  if (bytes !== null) return bytes;
  findings.push('size-malformed');
  return 0;
};

/** Debian policy §5.6.20: the field counts units of 1,024 bytes. */
const installedSize = (stanza: Stanza, findings: PackageFinding[]): number | null => {
  const value = stanza.get('installed-size');
  if (value === undefined || value === '') return null;
  const bytes = (wholeNumber(value) ?? Number.NaN) * 1024;
  if (Number.isSafeInteger(bytes)) return bytes;
  findings.push('installed-size-malformed');
  return null;
};

const wholeNumber = (value: string): number | null => {
  if (!/^[0-9]+$/.test(value)) return null;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : null;
};

const nativeDepictionFields = ['native-depiction', 'sileodepiction'] as const;

/** The first of both fields that is a web address; of any other there is one finding. */
const nativeDepiction = (stanza: Stanza, findings: PackageFinding[]): string | null => {
  const malformed: PackageFinding[] = [];
  let url: string | null = null;
  for (const field of nativeDepictionFields)
    url ??= checkedUrl(text(stanza, field), 'native-depiction-malformed', malformed);
  findings.push(...malformed.slice(0, 1));
  return url;
};

const checkedUrl = (value: string | null, malformed: PackageFinding, findings: PackageFinding[]): string | null => {
  if (value === null) return null;
  const url = webUrl(value);
  if (url === null) findings.push(malformed);
  return url;
};
