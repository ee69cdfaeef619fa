import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { bundleServer } from '../../scripts/bundling/bundle-server.ts';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { readPackageIdentifiers } from '../../src/catalog/reading.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { documentPath, operations } from '../../src/contract/paths.ts';
import { listRecords } from './bench-records.ts';
import type { Built } from './builds.ts';
import { runContest } from './contest.ts';
import { type LoadResult, runLoad } from './load.ts';
import { builtMillion, builtOne } from './million-builds.ts';
import { startProcess } from './processes.ts';
import { composeQuestions } from './questions.ts';
import { count, type Figure, megabytes, milliseconds } from './report.ts';
import { bundledServe, type Server, startNginx, startOurs } from './servers.ts';
import { createRandom, median, shuffle } from './statistics.ts';
import { tell, type Workshop } from './workshop.ts';

const rounds = 3;
const duration = 5;
const hotDocuments = 1000;
/** How many identifiers are requested at once. */
const many = 500;
const most = { p50: 0.3, p99: 2, perSecond: 8000, multi: 4, resident: 250e6, start: 300, lookups: 0.7 } as const;
/** Makes the server compute each answer. */
const computing = ['--answer-memory', '0'];

const namesOf = ({ state }: Built): string[] => {
  const database = CatalogFile.openReadOnly(catalogPath(state));
  const names = shuffle([...readPackageIdentifiers(database)], createRandom(1));
  database.close();
  return names;
};

const sizeOf = async ({ address }: Server, path: string): Promise<number> => {
  const answer = await fetch(address + path);
  const { byteLength } = await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`);
  return byteLength;
};

/** A plain Node server that gives one answer of this many bytes: nothing in Node can be faster. */
const startFloor = async (workshop: Workshop, bytes: number): Promise<Server> => {
  const args = [workshop.script('floor-server.ts'), String(bytes)];
  const floor = await startProcess(process.execPath, args, /^Listening on /);
  const stop = () => floor.stop();
  workshop.atEnd(stop);
  return { address: floor.line.replace('Listening on ', ''), processorSeconds: () => undefined, stop };
};

interface Question {
  readonly paths: readonly string[];
  readonly connections: number;
}

const middle = (results: readonly LoadResult[], of: 'perSecond' | 'p50' | 'p99'): number =>
  median(results.map((result) => result[of]));

/** Sends requests to ours and to the plain server in turn. */
const askBoth = async (
  workshop: Workshop,
  ours: Server,
  { paths, connections }: Question,
): Promise<{ ours: LoadResult[]; floor: LoadResult[] }> => {
  const sizes: number[] = [];
  for (const path of paths.slice(0, 50)) sizes.push(await sizeOf(ours, path));
  const floor = await startFloor(workshop, median(sizes));
  const results: { ours: LoadResult[]; floor: LoadResult[] } = { ours: [], floor: [] };
  await runLoad(workshop, ours.address, paths, { connections, duration: 3 });
  for (let round = 0; round < rounds; round++) {
    results.ours.push(await runLoad(workshop, ours.address, paths, { connections, duration }));
    results.floor.push(await runLoad(workshop, floor.address, paths, { connections, duration }));
  }
  await floor.stop();
  return results;
};

const against = (ours: number, floor: number): string =>
  `${(ours / floor).toFixed(2)} of a bare server’s ${count(floor)}`;

const errorsOf = (results: readonly LoadResult[]): number => results.reduce((sum, { errors }) => sum + errors, 0);

/** Searches over HTTP, computed each time. With a million packages, twice the time is allowed. */
const measureSearch = async (workshop: Workshop, built: Built, allowed: number): Promise<Figure[]> => {
  const input = built.input.name;
  tell(`composing questions: ${input}`);
  const questions = composeQuestions(listRecords(built.state));
  const pathsOf = (limit: number) =>
    questions.map((q) => `/v2${operations.packageSearch.address}?q=${encodeURIComponent(q)}&limit=${limit}`);
  const server = await startOurs(workshop, built, computing);
  tell(`search computed, one connection: ${input}`);
  const single = await askBoth(workshop, server, { paths: pathsOf(100), connections: 1 });
  tell(`search computed, 32 connections: ${input}`);
  const crowd = await askBoth(workshop, server, { paths: pathsOf(10), connections: 32 });
  await server.stop();
  const [p50, p99, rate] = [middle(single.ours, 'p50'), middle(single.ours, 'p99'), middle(crowd.ours, 'perSecond')];
  const errors = errorsOf([...single.ours, ...crowd.ours]);
  const floorOf = (of: 'p50' | 'p99') => `a bare server ${milliseconds(middle(single.floor, of))}`;
  return [
    {
      figure: 'search computed, one connection, limit=100: p50',
      input,
      measured: `${milliseconds(p50)}; ${floorOf('p50')}`,
      target: `≤ ${milliseconds(most.p50 * allowed)}`,
      met: p50 <= most.p50 * allowed,
    },
    {
      figure: 'search computed, one connection, limit=100: p99',
      input,
      measured: `${milliseconds(p99)}; ${floorOf('p99')}`,
      target: `≤ ${milliseconds(most.p99 * allowed)}`,
      met: p99 <= most.p99 * allowed,
    },
    {
      figure: 'search computed, 32 connections, limit=10: answers a second',
      input,
      measured: `${count(rate)}, ${errors} errors; ${against(rate, middle(crowd.floor, 'perSecond'))}`,
      ...(allowed === 1 ? { target: `≥ ${count(most.perSecond)}`, met: rate >= most.perSecond && errors === 0 } : {}),
    },
  ];
};

const measureMulti = async (workshop: Workshop, built: Built, names: readonly string[]): Promise<Figure> => {
  tell('multi of 500 identifiers');
  const server = await startOurs(workshop, built, computing);
  const paths = Array.from({ length: 20 }, (_, part) => {
    const ids = names.slice(part * many, (part + 1) * many).map(encodeURIComponent);
    return `/v2${operations.packageMulti.address}?ids=${ids.join(',')}`;
  });
  const { ours, floor } = await askBoth(workshop, server, { paths, connections: 1 });
  await server.stop();
  const p50 = middle(ours, 'p50');
  return {
    figure: `multi of ${many} known identifiers: p50`,
    input: built.input.name,
    measured: `${milliseconds(p50)}, p99 ${milliseconds(middle(ours, 'p99'))}, ${errorsOf(ours)} errors; a bare server ${milliseconds(middle(floor, 'p50'))}`,
    target: `≤ ${most.multi} ms`,
    met: p50 <= most.multi,
  };
};

const residentOf = (pid: number): number =>
  Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1024;

/** Starts the server, waits for its first answer, and stops it after some requests. */
const measureStart = async (workshop: Workshop, built: Built, names: readonly string[]): Promise<Figure[]> => {
  const first = `/${documentPath.package(names[0] ?? '')}`;
  const bundle = workshop.path('bundled-server');
  await bundleServer(bundle);
  const [starts, bundled, floors, resident]: [number[], number[], number[], number[]] = [[], [], [], []];
  // Each keeps what it has compiled, two seconds after its first start.
  const script = bundledServe(bundle);
  const before = await startOurs(workshop, built, [], script);
  await setTimeout(5000);
  await before.stop();
  for (let round = 0; round < 5; round++) {
    tell(`start to the first answer, ${round + 1} of 5`);
    for (const [times, begin] of [
      [floors, () => startFloor(workshop, 1000)],
      [starts, () => startOurs(workshop, built)],
      [bundled, () => startOurs(workshop, built, [], script)],
    ] as const) {
      const began = performance.now();
      const server = await begin();
      await sizeOf(server, first);
      times.push(performance.now() - began);
      if (times === starts && round === 0 && server.pid !== undefined) {
        const paths = names.slice(0, 20_000).map((name) => `/${documentPath.package(name)}`);
        await runLoad(workshop, server.address, paths, { connections: 32, duration });
        resident.push(residentOf(server.pid));
      }
      await server.stop();
    }
  }
  const input = built.input.name;
  const startFigure = (figure: string, times: readonly number[]): Figure => ({
    figure,
    input,
    measured: `${milliseconds(median(times))} (${times.map((one) => one.toFixed(0)).join(', ')}); a bare server ${milliseconds(median(floors))}`,
    target: `≤ ${most.start} ms`,
    met: median(times) <= most.start,
  });
  return [
    startFigure('server start to first answer, from source', starts),
    startFigure('server start to first answer, bundled', bundled),
    {
      figure: 'resident memory of the server, after 20,000 documents were asked for',
      input,
      measured: megabytes(median(resident)),
      target: `≤ ${megabytes(most.resident)}`,
      met: median(resident) <= most.resident,
    },
  ];
};

/** The cost of the server with sixty thousand packages, and with a million. */
export const measureMillionServer = async (workshop: Workshop): Promise<Figure[]> => {
  const [one, million] = [await builtOne(workshop), await builtMillion(workshop)];
  const names = namesOf(million);
  return [
    ...(await measureSearch(workshop, one, 1)),
    ...(await measureSearch(workshop, million, 2)),
    ...(await runContest(workshop, {
      built: million,
      paths: names.slice(0, hotDocuments).map((name) => `/${documentPath.package(name)}`),
      what: 'lookups',
      target: { peer: 'nginx', ratio: most.lookups },
      contestants: [
        ['ours', () => startOurs(workshop, million)],
        ['nginx', () => startNginx(workshop, million)],
      ],
    })),
    await measureMulti(workshop, million, names),
    ...(await measureStart(workshop, million, names)),
  ];
};
