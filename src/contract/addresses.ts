import { decodeFileName } from './filenames.ts';
import { fillPlaceholders, placeholdersOf } from './parameters.ts';
import { apiRoot, isAskable, type Operation, operations, wordsBelow } from './paths.ts';

// The way back from a published file to the addresses that are documented for it, for hosts that look up nothing but
// names: there each address is a name of its own.

const placeholder = /\{\w+\}/;

interface Lookup {
  /** The path of the file, with each name as it is encoded there. */
  readonly file: RegExp;
  /** The placeholders of those names. */
  readonly placeholders: readonly string[];
  readonly address: string;
  readonly words: ReadonlySet<string>;
}

// A ranking is named in the query of its address, so no name leads to it.
const lookups: readonly Lookup[] = Object.values(operations as Record<string, Operation>).flatMap(
  ({ file, address }) => {
    if (file === undefined || !placeholder.test(file) || !placeholder.test(address)) return [];
    const [before = ''] = address.split(placeholder);
    const parts = `${apiRoot}/${file}`.split(placeholder).map((part) => RegExp.escape(part));
    return [
      {
        file: new RegExp(`^${parts.join('(.+)')}$`),
        placeholders: placeholdersOf(file),
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

// With these in a name, clients and stores do not agree on what is asked for.
const isPlain = (name: string): boolean => !/[/\\\p{Cc}]/u.test(name);

const addressOfDocument = (path: string): string | undefined => {
  for (const { file, placeholders, address, words } of lookups) {
    const names = file.exec(path)?.slice(1).map(decodeFileName);
    if (names === undefined || names.includes(undefined)) continue;
    const named = new Map(placeholders.map((each, index) => [each, names[index] ?? '']));
    const isAsked = [...named.values()].every((name) => isPlain(name) && isAskable(name, words));
    return isAsked ? fillPlaceholders(address, (each) => named.get(each) ?? '') : undefined;
  }
  return fixed.get(path);
};

const index = 'index.html';

/**
 * The path of the address that a published file answers besides its own path, not encoded and relative to the base
 * address: `v2/jailbreak/package/a+b` for `v2/jailbreak/package/a+b.json`, `v2/` for the landing document, `about/` for
 * `about/index.html`, and the empty path for the front page. Undefined where there is none: an identifier that nobody
 * can ask for by its name, a ranking, whose address has a query, and what is asked for by its own path.
 */
export const addressOf = (path: string): string | undefined => {
  if (path === index || path.endsWith(`/${index}`)) return path.slice(0, -index.length);
  const address = path.startsWith(`${apiRoot}/`) ? addressOfDocument(path) : undefined;
  return address === path ? undefined : address;
};
