import { tmpdir } from 'node:os';
import path from 'node:path';
import { readSafetyEntries, safetyFile } from '../../functions/node/safety-file.ts';
import { publishSite } from '../../src/pipeline/site-step.ts';
import { makeOnce } from '../support/once-in-run.ts';
import { countDownloads, keepDepiction, lastBuild, sources, telling, writeCatalog } from './fixture.ts';

const catalogIn = (folder: string): string => path.join(folder, 'catalog.sqlite');
const outIn = (folder: string): string => path.join(folder, 'out');

const publish = async (folder: string): Promise<void> => {
  const catalogPath = catalogIn(folder);
  await writeCatalog(catalogPath, sources, 'https://index.example');
  countDownloads(catalogPath, { 'com.alpha.snowboard': 1200, ellekit: 80, 'com.beta.only': 1 });
  await publishSite({
    catalogPath,
    lastBuild,
    depictions: await keepDepiction(path.join(folder, 'kept'), telling),
    outDir: outIn(folder),
    cacheDir: path.join(folder, 'cache'),
    baseUrl: 'https://index.example',
    service: { name: 'Debdex', contact_email: 'list@index.example' },
    safety: [
      ...readSafetyEntries(safetyFile).slice(0, 4),
      {
        host: 'zebra.bad.example',
        reason: 'Hands out <b>copies</b>.',
        date: '2026-05-01',
        source: 'https://who.example/says?a&b',
      },
      {
        host: 'bad.example',
        path: '/repo',
        reason: 'Had a backdoor once.',
        date: '2025-12-31',
        source: 'http://b.example/',
      },
    ],
  });
};

/** The site of all made-up repositories, published once for all tests of a run: for reading. */
export const publishSources = async (): Promise<{ readonly out: string; readonly catalogPath: string }> => {
  const folder = await makeOnce(tmpdir(), 'site-of-sources', publish);
  return { out: outIn(folder), catalogPath: catalogIn(folder) };
};
