import { spawnSync } from 'node:child_process';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readPackageIdentifiers } from '../../src/catalog/reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { type Built, builtLarge } from './builds.ts';
import { rounds, runContest } from './contest.ts';
import { loadTool } from './load.ts';
import { composeFigures, milliseconds } from './report.ts';
import { startNginx, startOurs } from './servers.ts';
import { createRandom, median, shuffle } from './statistics.ts';
import { measureTwins } from './twins.ts';
import type { Part, Workshop } from './workshop.ts';

const hotDocuments = 1000;

/** The addresses of all packages' documents, in a fixed random order. */
const shufflePaths = ({ state }: Built): string[] => {
  const database = CatalogFile.openReadOnly(catalogPath(state));
  const names = shuffle([...readPackageIdentifiers(database)], createRandom(1));
  database.close();
  return names.map((name) => `/${documentPath.package(name)}`);
};

const startFirst = async (workshop: Workshop, built: Built, path: string): Promise<number> => {
  const started = performance.now();
  const server = await startOurs(workshop, built);
  const answer = await fetch(server.address + path);
  await answer.arrayBuffer();
  const time = performance.now() - started;
  await server.stop();
  if (answer.status !== 200) throw new Error(`the server answered ${answer.status}`);
  return time;
};

const measureLookups = (workshop: Workshop, built: Built, paths: readonly string[]) =>
  runContest(workshop, {
    ...{ built, paths, what: 'lookups', target: { peer: 'nginx', ratio: 0.8 } },
    contestants: [
      ['ours', () => startOurs(workshop, built)],
      ['nginx', () => startNginx(workshop, built)],
      [
        'nginx with open_file_cache',
        () => startNginx(workshop, built, 'open_file_cache max=2000 inactive=60s; open_file_cache_valid 60s;'),
      ],
    ],
  });

/** Answering prebuilt documents. */
export const lookupPart: Part = {
  summary:
    'prebuilt documents a second beside nginx, as they are and with compressed twins; how soon the server answers',
  run: async (workshop) => {
    const built = await builtLarge(workshop);
    const all = shufflePaths(built);
    const paths = all.slice(0, hotDocuments);
    const starts: number[] = [];
    for (let round = 0; round < rounds; round++) starts.push(await startFirst(workshop, built, paths[0] ?? '/'));
    const start = median(starts);
    const version =
      spawnSync('nginx', ['-v'], { encoding: 'utf8' })
        .stderr?.trim()
        .replace(/^.*nginx\//, '') ?? '';
    return (
      composeFigures([
        ...(await measureLookups(workshop, built, paths)),
        ...(await measureTwins(workshop, built, all, hotDocuments)),
        {
          figure: 'server start to first answer',
          input: built.input.name,
          measured: `${milliseconds(start)} (${starts.map((each) => each.toFixed(0)).join(', ')})`,
          target: '≤ 300 ms',
          met: start <= 300,
        },
      ]) +
      `\n32 connections, one server process, load by ${loadTool()}; ${version === '' ? 'no nginx' : `nginx ${version}`}. ` +
      `Medians of ${rounds} rounds, taken in turn.\n`
    );
  },
};
