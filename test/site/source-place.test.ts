import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { doctorViews } from '../../src/site/doctor-view.ts';
import { computeRepositoryView } from '../../src/site/repository-view.ts';
import { SiteCatalog } from '../../src/site/site-catalog.ts';
import { stanza, temporaryFolder, writeCatalog } from './fixture.ts';

const { folder, remove } = temporaryFolder();
afterAll(remove);

/** What is told of where the index of a repository with a suite lies: to package managers, and to the doctor. */
const placeOf = async (suite: string, component: string) => {
  const file = path.join(folder, 'catalog.sqlite');
  const entry = { slug: 'one', uri: 'https://one.example/', ranking: 3, suite, component, binary: 'iphoneos-arm64' };
  const at = '2026-11-01T10:00:00.000Z';
  await writeCatalog(
    file,
    [{ entry, release: 'Origin: One\n', at, packages: stanza({ Package: 'a' }) }],
    'https://a.example',
  );
  const catalog = new SiteCatalog(file);
  const [repository] = catalog.repositories;
  if (repository === undefined) throw new Error('there is one');
  const { sourceLine } = computeRepositoryView(repository, [], {
    base: '',
    service: { name: 'Index' },
    served: [],
    vanished: [],
  });
  const [view] = doctorViews(catalog, new Map());
  catalog.close();
  return [sourceLine, view?.command];
};

it('names the whole suite and the whole component of an index, slashes in them too', async () => {
  for (const [suite, component] of [
    ['stable', 'main'],
    ['iphoneos-arm64/1800', 'main'],
    ['stable', 'updates/main'],
    ['stable/updates', 'non-free/x'],
  ] as const) {
    expect(await placeOf(suite, component)).toEqual([
      `deb https://one.example/ ${suite} ${component}`,
      `npm run doctor -- https://one.example/ --suite ${suite} --component ${component} --binary iphoneos-arm64`,
    ]);
  }
});
