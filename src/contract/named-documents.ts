import { decodeFileName, decodeFolderName } from './filenames.ts';
import { fillPlaceholders } from './parameters.ts';
import { apiRoot, type Operation, operations } from './paths.ts';
import { isAskable, isSegment, wordsBelow } from './public-addresses.ts';

// Finds the documented addresses of a published file, for hosts that can only look up names: there each address is a
// name of its own.

const placeholder = /\{\w+\}/;

interface Lookup {
  /** The path of the file, with encoded names. */
  readonly file: RegExp;
  /** The placeholders of these names, and whether each is a folder. */
  readonly placeholders: ReadonlyMap<string, boolean>;
  readonly address: string;
  readonly words: ReadonlySet<string>;
}

// A ranking is in the query of its address, so no name leads to it.
const lookups: readonly Lookup[] = Object.values(operations as Record<string, Operation>).flatMap(
  ({ file, address }) => {
    if (file === undefined || !placeholder.test(file) || !placeholder.test(address)) return [];
    const [before = ''] = address.split(placeholder);
    const placeholders = new Map<string, boolean>();
    fillPlaceholders(file, (name, isFolder) => {
      placeholders.set(name, isFolder);
      return '';
    });
    const parts = `${apiRoot}/${file}`.split(placeholder).map((part) => RegExp.escape(part));
    return [
      {
        file: new RegExp(`^${parts.join('(.+)')}$`),
        placeholders,
        address: `${apiRoot}${address}`,
        words: wordsBelow(before),
      },
    ];
  },
);

const fixed: ReadonlyMap<string, string> = new Map(
  Object.values(operations as Record<string, Operation>).flatMap(({ file, address }) =>
    file === undefined || placeholder.test(file) ? [] : [[`${apiRoot}/${file}`, `${apiRoot}${address}`]],
  ),
);

// If a name contains one of these, clients and stores do not agree on what is requested.
const isPlain = (name: string): boolean => !/[/\\\p{Cc}]/u.test(name);

/** A published document that is named after what is looked up. */
interface NamedDocument {
  /** The names by placeholder of its file, in their order. */
  readonly names: ReadonlyMap<string, string>;
  /** The address of its operation with these names, below the base address. */
  readonly address: string;
  /** Whether it can be requested at that address. */
  readonly isAsked: boolean;
}

/** The names of the document at a path; undefined if it has none. */
export const namedDocument = (path: string): NamedDocument | undefined => {
  for (const { file, placeholders, address, words } of lookups) {
    const parts = file.exec(path)?.slice(1);
    if (parts === undefined) continue;
    const names = new Map<string, string>();
    let isAsked = true;
    for (const [index, [placeholder, isFolder]] of [...placeholders].entries()) {
      const name = (isFolder ? decodeFolderName : decodeFileName)(parts[index] ?? '');
      if (name === undefined) break;
      names.set(placeholder, name);
      isAsked &&= isPlain(name) && (isFolder ? isSegment(name) : isAskable(name, words));
    }
    if (names.size < placeholders.size) continue;
    return { names, address, isAsked };
  }
  return undefined;
};

const addressOfDocument = (path: string): string | undefined => {
  const document = namedDocument(path);
  if (document === undefined) return fixed.get(path);
  const { names, address, isAsked } = document;
  return isAsked ? fillPlaceholders(address, (each) => names.get(each) ?? '') : undefined;
};

const index = 'index.html';

/**
 * The path of the address at which a published file answers besides its own path, not encoded and relative to the base
 * address: `v2/jailbreak/package/a+b` for `v2/jailbreak/package/a+b.json`, `v2/` for the landing document, `about/` for
 * `about/index.html`, and the empty path for the front page. Undefined if there is none: for an identifier that cannot
 * be requested by its name, a ranking, whose address has a query, and a file that is requested by its own path.
 */
export const addressOf = (path: string): string | undefined => {
  if (path === index || path.endsWith(`/${index}`)) return path.slice(0, -index.length);
  const address = path.startsWith(`${apiRoot}/`) ? addressOfDocument(path) : undefined;
  return address === path ? undefined : address;
};
