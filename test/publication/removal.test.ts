import fs, { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openBuild, packages, type SourceRepository } from '../support/catalog.ts';
import { emissionOf } from '../support/emission.ts';
import { temporaryFolder } from '../support/folder.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

// Every single removal is a moment at which the process may end.
const removed = { tell: (_file: string) => {} };
const { rmSync: remove } = fs;
replaceFunctions(fs, {
  rmSync: (file, options) => {
    remove(file, options);
    removed.tell(String(file));
  },
});

/** The documents below a folder that name one that is not there, each with what it names. */
const findDangling = (out: string): string[] => {
  const files = readdirSync(path.join(out, 'v2'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.startsWith('jailbreak') && name.endsWith('.json'))
    .flatMap((name) => {
      const text = readFileSync(path.join(out, 'v2', name), 'utf8');
      const named = [...text.matchAll(/https:\/\/index\.example(\/v2\/jailbreak\/[^"]+)"/g)].map(([, file]) => file);
      return named.filter((file) => !existsSync(path.join(out, `${file}.json`))).map((file) => `${name} names ${file}`);
    });
};

it('C12: what vanishes goes in an order in which nothing ever names a missing document', async () => {
  const folder = temporaryFolder();
  const out = path.join(folder, 'dist');
  const now = new Date('2026-05-02T00:00:00.000Z');
  const emit = async (repositories: readonly SourceRepository[]) => {
    const { catalog, update } = await openBuild(path.join(folder, 'state'), repositories, now);
    const emission = emissionOf({ catalog, update }, out, { now });
    await emission.write();
    emission.forgetVanished();
    await catalog.publish();
    return emission;
  };

  const kept: SourceRepository = { slug: 'kept', packages: packages({ Package: 'shared' }) };
  const gone: SourceRepository = {
    slug: 'gone',
    aliases: ['went'],
    packages: packages({ Package: 'shared' }, { Package: 'z.own' }, { Package: 'a.own' }),
  };
  await emit([kept, gone]);
  expect(findDangling(out)).toEqual([]);

  const emission = await emit([kept]);
  expect(findDangling(out), 'nothing is removed yet').toEqual([]);
  const moments: string[] = [];
  removed.tell = (file) => {
    if (!file.endsWith('.json')) return;
    moments.push(path.relative(path.join(out, 'v2/jailbreak'), file));
    expect(findDangling(out), `when ${moments.at(-1)} is gone`).toEqual([]);
  };
  emission.removeVanished();
  expect(moments.sort()).toEqual([
    'package/a.own.json',
    'package/z.own.json',
    'repository/gone.json',
    'repository/gone/findings.json',
    'repository/gone/packages.json',
    'repository/went.json',
    'repository/went/findings.json',
  ]);
});
