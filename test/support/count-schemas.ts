/**
 * How many schemas the module of a Worker makes when it starts, its imports being of no account. `languages` stands in for what
 * there is of Intl.
 */
export const countSchemas = (text: string, languages: object = Intl): number => {
  const program = text
    .replaceAll(
      /\bimport\s*(?:(\w+)\s*,?\s*)?(?:\*\s*as\s+(\w+)|(\{[^}]*\}))?\s*from\s*["'][^"']+["'];?/g,
      (_, one, all, named) =>
        [one, all, named?.replaceAll(/\bas\b/g, ':')].flatMap((name) => (name ? `const ${name} = stub;` : [])).join(''),
    )
    .replace(/export\s*\{[^}]*\};?\s*$/, '');
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
  new Function('Object', 'Intl', 'stub', program)(watched, languages, stub);
  return schemas;
};
