import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

// The import checker reads no .astro files, so this looks at what they import.
it('pages, layouts and components reach data through src/site alone', () => {
  const files = ['pages', 'layouts', 'components'].flatMap((room) =>
    readdirSync(path.join(source, room), { recursive: true, encoding: 'utf8' }).map((name) =>
      path.join(source, room, name),
    ),
  );
  const astro = files.filter((name) => name.endsWith('.astro'));
  expect(astro.length).toBeGreaterThan(20);
  for (const file of astro) {
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/^import .*?from '(\.[^']*)';$/gm)) {
      const target = path.relative(source, path.resolve(path.dirname(file), specifier));
      // The list of changes is a page as it stands.
      if (target === path.join('..', 'CHANGELOG.md')) continue;
      const [room] = target.split(path.sep);
      expect(
        ['pages', 'layouts', 'components', 'site', 'results', 'contract', 'compatibility'],
        `${file}: ${specifier}`,
      ).toContain(room);
    }
  }
});
