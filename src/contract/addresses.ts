import { decodeFileName } from './filenames.ts';
import { apiRoot, isAskable, type Operation, operations, wordsBelow } from './paths.ts';

// The way back from a published file to the addresses that are documented for it, for hosts that look up nothing but
// names: there each address is a name of its own.

const placeholder = /\{\w+\}/;

interface Lookup {
  /** What stands before and after the name, in the path of the file and in its address. */
  readonly file: readonly [string, string];
  readonly address: readonly [string, string];
  readonly words: ReadonlySet<string>;
}

const split = (text: string): readonly [string, string] => {
  const [before = '', after = ''] = text.split(placeholder);
  return [before, after];
};

// A ranking is named in the query of its address, so no name leads to it.
const lookups: readonly Lookup[] = Object.values(operations as Record<string, Operation>).flatMap(
  ({ file, address }) => {
    if (file === undefined || !placeholder.test(file) || !placeholder.test(address)) return [];
    const [before, after] = split(address);
    return [{ file: split(`${apiRoot}/${file}`), address: [`${apiRoot}${before}`, after], words: wordsBelow(before) }];
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
  for (const { file, address, words } of lookups) {
    const [before, after] = file;
    if (!path.startsWith(before) || !path.endsWith(after)) continue;
    const name = decodeFileName(path.slice(before.length, path.length - after.length));
    if (name === undefined) continue;
    return isPlain(name) && isAskable(name, words) ? `${address[0]}${name}${address[1]}` : undefined;
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
