import { spawnSync } from 'node:child_process';
import { catalogPath } from '../../src/catalog/generation.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readPackageIdentifiers } from '../../src/catalog/reading.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { type Built, builtLarge } from './builds.ts';
import { type LoadResult, loadTool, runLoad } from './load.ts';
import { composeFigures, count, type Figure, milliseconds } from './report.ts';
import { type Server, startNginx, startOurs } from './servers.ts';
import { createRandom, median, shuffle } from './statistics.ts';
import { Missing, type Part, tell, type Workshop } from './workshop.ts';

const hotDocuments = 1000;
const rounds = 5;
const load = { connections: 32, duration: 4 };

const choosePaths = ({ state }: Built): string[] => {
  const database = CatalogFile.openReadOnly(catalogPath(state));
  const names = shuffle([...readPackageIdentifiers(database)], createRandom(1)).slice(0, hotDocuments);
  database.close();
  return names.map((name) => `/${documentPath.package(name)}`);
};

interface Measured {
  readonly name: string;
  readonly results: LoadResult[];
  /** Microseconds of processor time for each request. */
  readonly costs: number[];
}

const measureRound = async (workshop: Workshop, server: Server, paths: readonly string[], into: Measured) => {
  const before = server.processorSeconds();
  const result = await runLoad(workshop, server.address, paths, load);
  const after = server.processorSeconds();
  if (result.errors > 0) throw new Error(`${into.name} answered ${result.errors} requests with errors`);
  into.results.push(result);
  if (before !== undefined && after !== undefined) {
    into.costs.push(((after - before) / (result.perSecond * load.duration)) * 1e6);
  }
};

const rateOf = ({ results }: Measured): number => median(results.map(({ perSecond }) => perSecond));

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

const measureLookups = async (workshop: Workshop, built: Built, paths: readonly string[]): Promise<Figure[]> => {
  const contestants: [name: string, start: () => Promise<Server>][] = [
    ['ours', () => startOurs(workshop, built)],
    ['nginx', () => startNginx(workshop, built)],
    [
      'nginx with open_file_cache',
      () => startNginx(workshop, built, 'open_file_cache max=2000 inactive=60s; open_file_cache_valid 60s;'),
    ],
  ];
  const servers: { server: Server; measured: Measured }[] = [];
  let note: string | undefined;
  for (const [name, start] of contestants) {
    try {
      servers.push({ server: await start(), measured: { name, results: [], costs: [] } });
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      note = error.message;
    }
  }
  for (const { server, measured } of servers) {
    // Once round all of them, so that each has in its memory what it will hold there.
    await measureRound(workshop, server, paths, { ...measured, results: [], costs: [] });
  }
  for (let round = 0; round < rounds; round++) {
    tell(`lookups, round ${round + 1} of ${rounds}`);
    for (const { server, measured } of servers) await measureRound(workshop, server, paths, measured);
  }
  for (const { server } of servers) await server.stop();

  const input = `${built.input.name}, ${hotDocuments.toLocaleString('en')} documents`;
  const [ours, ...peers] = servers.map(({ measured }) => measured);
  if (ours === undefined) throw new Error('no server was measured');
  const figures = [ours, ...peers].map((measured): Figure => {
    const { name, results, costs } = measured;
    const cost = costs.length === 0 ? '' : `; ${median(costs).toFixed(1)} µs of processor time each`;
    const p99 = milliseconds(median(results.map((result) => result.p99)));
    return { figure: `lookups a second: ${name}`, input, measured: `${count(rateOf(measured))}, p99 ${p99}${cost}` };
  });
  for (const peer of peers) {
    // Round by round, since what else the machine does changes from one to the next.
    const ratios = ours.results.map(
      ({ perSecond }, round) => perSecond / (peer.results[round]?.perSecond ?? Number.NaN),
    );
    const ratio = median(ratios);
    const judged = peer.name === 'nginx' ? { target: '≥ 0.8', met: ratio >= 0.8 } : {};
    const each = ratios.map((one) => one.toFixed(2)).join(', ');
    figures.push({ figure: `ours against ${peer.name}`, input, measured: `${ratio.toFixed(2)} (${each})`, ...judged });
  }
  if (note !== undefined) figures.push({ figure: 'ours against nginx', input, measured: `skipped: ${note}` });
  return figures;
};

/** Answering prebuilt documents. */
export const lookupPart: Part = {
  summary: 'prebuilt documents a second beside nginx, and how soon the server answers',
  run: async (workshop) => {
    const built = await builtLarge(workshop);
    const paths = choosePaths(built);
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
