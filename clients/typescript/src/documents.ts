// The names of the documents of a publication, for hosts that only have files. A small letter, a digit, ".", "+" and
// "-" stand for themselves; a capital letter becomes "_" and its small letter, any other byte "=" and two hexadecimal
// digits. A name that is longer than 250 bytes is divided: it continues in a folder whose name ends with "_".

const longest = 250;

const encodeByte = (byte: number): string => {
  const character = String.fromCharCode(byte);
  if (/[a-z0-9.+-]/.test(character)) return character;
  if (/[A-Z]/.test(character)) return `_${character.toLowerCase()}`;
  return `=${byte.toString(16).padStart(2, '0')}`;
};

/** The path segments for a name, without the extension. */
const nameSegments = (name: string): string[] => {
  const segments = [''];
  for (const byte of new TextEncoder().encode(name)) {
    const encoded = encodeByte(byte);
    const last = segments.length - 1;
    if ((segments[last] as string).length + encoded.length > longest) {
      segments[last] += '_';
      segments.push(encoded);
    } else segments[last] += encoded;
  }
  return segments;
};

const addressOf = (segments: readonly string[]): string => segments.map(encodeURIComponent).join('/');

// A folder must not have the name of a file: a dot at its end, or before a file extension, is encoded.
const ofRepository = (slug: string, file: string): string => {
  const folder = nameSegments(slug).map((segment) => segment.replaceAll(/\.(?=json|html|$)/g, '=2e'));
  return `/jailbreak/repository/${addressOf(folder)}/${file}`;
};

/**
 * Words of the service in the place of a name. A package or repository with such a name is only found by the name of
 * its document.
 */
export const words = {
  package: new Set(['search', 'multi']),
  repository: new Set(['search', 'ranking', 'safety']),
} as const satisfies Record<string, ReadonlySet<string>>;

/**
 * Whether a name can be used in an address as it is. A dot would be taken for a folder, a name like the file of another
 * document would be answered with that document, and a name that is too long is refused.
 */
export const isAskable = (name: string, kind: keyof typeof words): boolean =>
  !/^\.{0,2}$|\.json$/.test(name) && !words[kind].has(name) && new TextEncoder().encode(name).length <= 255;

/** Addresses of documents below `/v2`. */
export const documents = {
  landing: '/index.json',
  status: '/status.json',
  description: '/openapi.json',
  divergences: '/divergences.json',
  downloads: '/downloads.json',
  package: (id: string): string => `/jailbreak/package/${addressOf(nameSegments(id))}.json`,
  repository: (slug: string): string => `/jailbreak/repository/${addressOf(nameSegments(slug))}.json`,
  repositories: (rank: string | number): string => `/jailbreak/repository/ranking/${rank === '*' ? 'all' : rank}.json`,
  repositoryPackages: (slug: string): string => ofRepository(slug, 'packages.json'),
  findings: (slug: string): string => ofRepository(slug, 'findings.json'),
} as const;
