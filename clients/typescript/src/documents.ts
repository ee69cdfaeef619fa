// The names of the documents of a publication, for hosts that know files alone: each character is itself where it is a small
// letter, a digit, "." "+" or "-", a capital is "_" and its small letter, any other byte "=" and its two hexadecimal digits.
// What does not fit one name of 250 bytes goes on in a folder whose name ends with "_".

const longest = 250;

const encodeByte = (byte: number): string => {
  const character = String.fromCharCode(byte);
  if (/[a-z0-9.+-]/.test(character)) return character;
  if (/[A-Z]/.test(character)) return `_${character.toLowerCase()}`;
  return `=${byte.toString(16).padStart(2, '0')}`;
};

/** The segments of the name of what is called so, without its ending. */
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

// A folder is never in the way of a file: a dot at the end, or before what files end with, is written otherwise.
const ofRepository = (slug: string, file: string): string => {
  const folder = nameSegments(slug).map((segment) => segment.replaceAll(/\.(?=json|html|$)/g, '=2e'));
  return `/jailbreak/repository/${addressOf(folder)}/${file}`;
};

/** Words of the service in the place of a name: what is called so is there by the name of its document alone. */
export const words = {
  package: new Set(['search', 'multi']),
  repository: new Set(['search', 'ranking', 'safety']),
} as const satisfies Record<string, ReadonlySet<string>>;

/**
 * Whether what is called so can be asked for by its own name. A dot would be taken for a folder, and what is called like the
 * document of another would be answered with that; what is too long is refused.
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
