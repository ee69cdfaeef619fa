import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import {
  type EntryParts,
  type ManifestEntry,
  manifestEntrySchema,
  readEntryParts,
  slugKey,
} from '../contract/manifest.ts';
import { sayMistake, sayUnreadable } from '../contract/mistakes.ts';
import { readYaml } from '../contract/yaml.ts';
import { readPublicKeys } from './openpgp-signature.ts';

/** One mistake: the file, the field in it (empty for the file as a whole), and what to do. */
export interface ManifestProblem {
  readonly file: string;
  readonly field: string;
  readonly message: string;
}

const noEntries = 'holds no entries';

/** All mistakes in a manifest. The message has one line for each. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly problems: readonly ManifestProblem[];
  /** The entries without a mistake, for a command that only looks something up. A build uses all entries or none. */
  readonly entries: readonly ManifestEntry[];

  constructor(problems: readonly ManifestProblem[], entries: readonly ManifestEntry[] = []) {
    super(problems.map(({ file, field, message }) => `${file}: ${field ? `${field}: ` : ''}${message}`).join('\n'));
    this.problems = problems;
    this.entries = entries;
  }

  /** Whether nothing is wrong but that nobody has written an entry yet. */
  get isEmpty(): boolean {
    return this.problems.every(({ message }) => message === noEntries);
  }
}

// An entry as written, and words that help a person to find it.
interface Draft {
  readonly file: string;
  /** The place in a list, such as "[3]"; empty if the file is the entry. */
  readonly place: string;
  readonly value: unknown;
}

/** What is compared with other entries, also of one with mistakes: otherwise the next build would tell more of them. */
interface Compared extends EntryParts {
  readonly draft: Draft;
}

const extensions = new Set(['.yaml', '.yml', '.json']);
const longestFile = 16 << 20;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const readText = async (path: string): Promise<string> => {
  const { size } = await stat(path);
  if (size > longestFile) throw new Error(`is ${size} bytes long; a manifest has at most ${longestFile}`);
  return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
};

const readDrafts = async (
  path: string,
  file: string,
  isList: boolean,
  problems: ManifestProblem[],
): Promise<Draft[]> => {
  const before = problems.length;
  let value: unknown;
  try {
    // JSON is YAML, and the YAML reader also refuses a repeated field.
    value = readYaml(await readText(path));
  } catch (error) {
    problems.push({ file, field: '', message: sayUnreadable(error) ?? messageOf(error) });
  }
  if (problems.length > before) return [];
  if (!isList && Array.isArray(value)) {
    const message = 'holds a list, and in a folder each file is one entry: name this file itself with --manifest';
    problems.push({ file, field: '', message });
    return [];
  }
  if (!isList) return [{ file, place: '', value }];
  if (Array.isArray(value)) return value.map((entry, index) => ({ file, place: `[${index}]`, value: entry }));
  problems.push({ file, field: '', message: 'must hold a list of entries; one entry a file belongs in a folder' });
  return [];
};

const fieldOf = (place: string, path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, place);

/** What is wrong with a field. Of a name that is wrong, such as that of a header, it says why inside. */
export const tellIssue = (issue: {
  message: string;
  code: string;
  issues?: readonly { message: string }[];
}): string => {
  const [inner] = issue.code === 'invalid_key' ? (issue.issues ?? []) : [];
  return inner?.message ?? issue.message;
};

const parseDraft = (draft: Draft, problems: ManifestProblem[]): ManifestEntry | undefined => {
  const { file, place } = draft;
  if (typeof draft.value !== 'object' || draft.value === null || Array.isArray(draft.value)) {
    problems.push({ file, field: place, message: 'must be an entry, with slug, uri and ranking' });
    return undefined;
  }
  const checked = manifestEntrySchema.safeParse(draft.value, { error: sayMistake });
  if (checked.success) return checked.data;
  for (const issue of checked.error.issues) {
    // Zod reports all unknown fields as one issue, but each is a mistake of its own.
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : undefined;
    if (keys) {
      for (const key of keys) {
        problems.push({
          file,
          field: fieldOf(place, [...issue.path, key]),
          message: 'is no field of a manifest entry',
        });
      }
    } else {
      problems.push({ file, field: fieldOf(place, issue.path), message: tellIssue(issue) });
    }
  }
  return undefined;
};

/** Why the `key` of an entry is none; undefined where it is one, or there is none. */
export const findKeyFault = async (key: string | undefined): Promise<string | undefined> => {
  if (key === undefined) return undefined;
  try {
    await readPublicKeys(key);
    return undefined;
  } catch (error) {
    return `cannot be read as a public key (${messageOf(error)})`;
  }
};

const checkKey = async ({ draft: { file, place }, key }: Compared, problems: ManifestProblem[]): Promise<void> => {
  const message = await findKeyFault(key);
  if (message !== undefined) problems.push({ file, field: fieldOf(place, ['key']), message });
};

const caseAside = ': letter case does not tell slugs apart';

const checkDistinct = (
  entries: readonly Compared[],
  field: 'slug' | 'uri',
  keyOf: (entry: Compared) => string | undefined,
  what: string,
  problems: ManifestProblem[],
): void => {
  const seen = new Map<string, Compared>();
  for (const current of entries) {
    const key = keyOf(current);
    if (key === undefined) continue;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, current);
      continue;
    }
    problems.push({
      file: current.draft.file,
      field: fieldOf(current.draft.place, [field]),
      message: `has ${what} of ${first.slug ?? 'another entry'} (${first.draft.file}${first.draft.place})${
        field === 'slug' && first.slug !== current.slug ? caseAside : ''
      }`,
    });
  }
};

/** An alias is a former slug, and has to lead to a single repository. */
const checkAliases = (entries: readonly Compared[], problems: ManifestProblem[]): void => {
  const owners = new Map<string, { readonly name: string; readonly owner: string }>();
  for (const { slug } of entries) if (slug !== undefined) owners.set(slugKey(slug), { name: slug, owner: slug });
  for (const { draft, slug: owner = 'another entry', aliases } of entries) {
    aliases.forEach((alias, index) => {
      if (alias === undefined) return;
      const taken = owners.get(slugKey(alias));
      if (taken === undefined) {
        owners.set(slugKey(alias), { name: alias, owner });
        return;
      }
      const field = fieldOf(draft.place, ['aliases', index]);
      const message = `${alias} leads to ${taken.owner} already${taken.name === alias ? '' : caseAside}`;
      problems.push({ file: draft.file, field, message });
    });
  }
};

/**
 * Reads a manifest: a folder with one entry in each `.yaml`, `.yml` or `.json` file, named after the entry's slug, or
 * one such file with a list of entries. Returns the entries sorted by slug. Throws `ManifestError` with every mistake:
 * files that cannot be read, fields that violate the schema, invalid keys, slugs, aliases or addresses (with suite,
 * component and architecture) that two entries share, an empty manifest.
 */
export const readManifest = async (path: string): Promise<ManifestEntry[]> => {
  const problems: ManifestProblem[] = [];
  const drafts: Draft[] = [];
  let isFolder: boolean;
  try {
    isFolder = (await stat(path)).isDirectory();
  } catch (error) {
    const why = sayUnreadable(error);
    const message =
      why === undefined ? `cannot be read (${messageOf(error)})` : `${why}: name another with --manifest or --data`;
    throw new ManifestError([{ file: path, field: '', message }]);
  }
  if (isFolder) {
    const names = (await readdir(path)).filter(
      (name) => extensions.has(extname(name).toLowerCase()) && !name.startsWith('.'),
    );
    for (const name of names.sort()) {
      drafts.push(...(await readDrafts(join(path, name), join(path, name), false, problems)));
    }
  } else {
    drafts.push(...(await readDrafts(path, path, true, problems)));
  }

  const read: { readonly draft: Draft; readonly entry: ManifestEntry }[] = [];
  const compared: Compared[] = [];
  for (const draft of drafts) {
    const entry = parseDraft(draft, problems);
    if (entry !== undefined) read.push({ draft, entry });
    const parts = { draft, ...readEntryParts(draft.value) };
    compared.push(parts);
    await checkKey(parts, problems);
    const name = basename(draft.file, extname(draft.file));
    if (isFolder && parts.slug !== undefined && parts.slug !== name) {
      problems.push({ file: draft.file, field: 'slug', message: `must be "${name}", as the file is called` });
    }
  }
  checkDistinct(compared, 'slug', ({ slug }) => slug && slugKey(slug), 'the slug', problems);
  checkDistinct(compared, 'uri', ({ address }) => address, 'the address, suite, component and architecture', problems);
  checkAliases(compared, problems);
  if (problems.length === 0 && read.length === 0) {
    problems.push({ file: path, field: '', message: noEntries });
  }
  // The name of a mistaken field begins with the place of its entry.
  const mistaken = new Set(problems.map(({ file, field }) => `${file}${/^\[\d+\]/.exec(field)?.[0] ?? ''}`));
  const entries = read
    .filter(({ draft: { file, place } }) => !mistaken.has(`${file}${place}`))
    .map(({ entry }) => entry)
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
  if (problems.length > 0) throw new ManifestError(problems, entries);
  return entries;
};
