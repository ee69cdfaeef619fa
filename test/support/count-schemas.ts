import { readFileSync } from 'node:fs';
import path from 'node:path';

const importing = /\bimport\s*(?:\*\s*as\s+(\w+)|(\{[^}]*\}))?\s*(?:from\s*)?["']([^"']+)["'];?/g;
const exporting = /export\s*(\{[^}]*\});?/g;

/** Parses `{a as b, c}` of imports or exports into pairs of names. */
const pairsOf = (list: string): readonly (readonly [string, string])[] =>
  list
    .slice(1, -1)
    .split(',')
    .map((one) => one.trim().split(/\s+as\s+/))
    .flatMap(([name = '', other = name]) => (name === '' ? [] : [[name, other] as const]));

/**
 * How many schemas a Worker's modules create when it starts. Counted are the modules that are imported statically from
 * the first one; what the platform provides is ignored. `languages` replaces Intl.
 */
export const countSchemas = (folder: string, languages: object = Intl): number => {
  let schemas = 0;
  const define = (...[owner, name, property]: Parameters<typeof Object.defineProperty>) => {
    if (name === '_zod') schemas++;
    return Object.defineProperty(owner, name, property);
  };
  const watched = new Proxy(Object, {
    get: (target, name) => (name === 'defineProperty' ? define : Reflect.get(target, name)),
  });
  const stub: unknown = new Proxy(class {}, {
    get: (target, name) => (name === 'prototype' ? target.prototype : stub),
  });
  const loaded = new Map<string, unknown>();
  const load = (name: string): unknown => {
    const known = loaded.get(name);
    if (known !== undefined) return known;
    const imported: unknown[] = [];
    const program = readFileSync(path.join(folder, name), 'utf8')
      .replaceAll(importing, (_, all?: string, list?: string, from = '') => {
        const given = `imported[${imported.push(from.startsWith('.') ? load(path.posix.join(path.posix.dirname(name), from)) : stub) - 1}]`;
        if (all !== undefined) return `const ${all}=${given};`;
        return list === undefined
          ? ''
          : pairsOf(list)
              .map(([there, here]) => `const ${here}=${given}.${there};`)
              .join('');
      })
      .replaceAll(
        exporting,
        (_, list: string) =>
          `return {${pairsOf(list)
            .map(([here, there]) => `get ${there}(){return ${here}}`)
            .join(',')}};`,
      );
    const made = new Function('Object', 'Intl', 'imported', program)(watched, languages, imported) ?? {};
    loaded.set(name, made);
    return made;
  };
  load('worker.js');
  return schemas;
};
