import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '..', '..');

const { default: rules } = (await import(path.join(root, '.dependency-cruiser.mjs'))) as {
  default: { readonly forbidden: readonly { readonly name: string }[] };
};

/** What each room may import, as the rule says it. */
const allowed = new Map(
  rules.forbidden.flatMap(({ name }) => {
    const [, room, names] = /^(\S+) imports only (.*)itself$/.exec(name) ?? [];
    return room === undefined || names === undefined ? [] : [[room, names.split(', ').filter(Boolean).sort()] as const];
  }),
);
/** The packages that a room may use, where the rule names them. */
const packages = new Map(
  rules.forbidden.flatMap(({ name }) => {
    const [, room, names] = /^(\S+) uses no package but (.*)$/.exec(name) ?? [];
    return room === undefined || names === undefined
      ? []
      : [[room, names === 'none' ? [] : names.split(', ')] as const];
  }),
);

const table = /^\| Folder .*\n\|[-| ]+\n((?:\|.*\n)+)/m.exec(readFileSync(path.join(root, 'README.md'), 'utf8'))?.[1];
const rows = (table ?? '')
  .trim()
  .split('\n')
  .map((line) => {
    const [, folders = '', , imports = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { folders: Array.from(folders.matchAll(/`([\w/-]+)\/`/g), ([, folder = '']) => folder), imports };
  });

const fullName = (name: string): string | undefined => [name, `src/${name}`].find((one) => allowed.has(one));

it('the map says of each room that it may import what the import rule lets it', () => {
  const said = new Map<string, readonly string[]>();
  for (const { folders, imports } of rows) {
    const ruled = folders.filter((folder) => allowed.has(folder));
    if (ruled.length === 0) {
      if (folders.some((folder) => folder.startsWith('functions/')))
        expect(imports, folders.join()).toBe('as `functions/`');
      continue;
    }
    const names = imports
      .replaceAll(/\s*\([^)]*\)/g, '')
      .split(/,\s*/)
      .filter(Boolean);
    for (const room of ruled) {
      said.set(room, names.flatMap((name) => fullName(name) ?? []).sort());
      const others = names.filter((name) => fullName(name) === undefined);
      expect(others.sort(), `packages of ${room}`).toEqual([...(packages.get(room) ?? [])].sort());
    }
  }
  expect(said.size).toBeGreaterThan(20);
  expect(Object.fromEntries(said)).toEqual(
    Object.fromEntries([...allowed].filter(([room]) => room !== 'clients/typescript')),
  );
});
