import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { operations } from '../../src/contract/paths.ts';
import { listRecords } from './bench-records.ts';
import { type Built, builtCopies, builtLarge } from './builds.ts';
import { type LoadResult, loadTool, runLoad } from './load.ts';
import type { SearchMeasure } from './measure-search.ts';
import { measurePostgres, startPostgres } from './postgres-peer.ts';
import { npmScript, runNode } from './processes.ts';
import { composeQuestions, questionMix } from './questions.ts';
import { composeFigures, composeTable, count, type Figure, megabytes, milliseconds } from './report.ts';
import { startOurs } from './servers.ts';
import { median, percentile } from './statistics.ts';
import { Missing, type Part, tell, type Workshop } from './workshop.ts';

const repeats = 3;

/** The questions, and the file from which other processes read them. */
const largeQuestions = (workshop: Workshop): Promise<{ questions: string[]; file: string }> =>
  workshop.once('questions', async () => {
    const { state } = await builtLarge(workshop);
    const questions = composeQuestions(listRecords(state));
    const file = workshop.path('questions.json');
    writeFileSync(file, JSON.stringify(questions));
    return { questions, file };
  });

// As the server runs. Its preloaded module makes Node keep its compiled code, without which the compiler stays in
// memory. The other engines get that, too, but not the flags that concern our memory.
const serveArguments = npmScript('serve');
const [flags, ahead] = (() => {
  const at = serveArguments.indexOf('--import');
  return [serveArguments.slice(0, at), serveArguments.slice(at, at + 2)];
})();

const measureOnce = async (workshop: Workshop, engine: string, rest: readonly string[]): Promise<SearchMeasure> => {
  const own = engine === 'ours' ? flags : [];
  const { stdout } = await runNode([
    '--expose-gc',
    ...own,
    ...ahead,
    workshop.script('measure-search.ts'),
    engine,
    ...rest,
  ]);
  return JSON.parse(stdout) as SearchMeasure;
};

const rounds = { ours: 10, minisearch: 1 } as const;

const measureEngine = async (
  workshop: Workshop,
  engine: keyof typeof rounds,
  { state, input }: Built,
): Promise<SearchMeasure[]> => {
  const { file } = await largeQuestions(workshop);
  const results: SearchMeasure[] = [];
  for (let round = 0; round < repeats; round++) {
    tell(`${engine} on ${input.name}, run ${round + 1} of ${repeats}`);
    results.push(await measureOnce(workshop, engine, [state, file, String(rounds[engine])]));
  }
  return results;
};

type Quantity = 'first' | 'p50' | 'p99' | 'questionP99' | 'mean' | 'processor' | 'perSecond' | 'resident';

const middle = (runs: readonly SearchMeasure[], quantity: Quantity): number => median(runs.map((run) => run[quantity]));

const listTimes = (runs: readonly SearchMeasure[], quantity: Quantity): string =>
  `${milliseconds(middle(runs, quantity))} (${runs.map((run) => run[quantity].toFixed(2)).join(', ')})`;

const describeOurs = (runs: readonly SearchMeasure[], input: string): Figure[] => {
  const [p50, p99, first] = [middle(runs, 'p50'), middle(runs, 'p99'), middle(runs, 'first')];
  return [
    { figure: 'search, p50', input, measured: listTimes(runs, 'p50'), target: '≤ 0.5 ms', met: p50 <= 0.5 },
    { figure: 'search, p99', input, measured: listTimes(runs, 'p99'), target: '≤ 5 ms', met: p99 <= 5 },
    {
      figure: 'search, p99 of the questions, each in its middle round',
      input,
      measured: listTimes(runs, 'questionP99'),
    },
    { figure: 'search, mean', input, measured: listTimes(runs, 'mean') },
    { figure: 'search, processor time of an answer', input, measured: listTimes(runs, 'processor') },
    {
      figure: 'cold: open, first answer',
      input,
      measured: listTimes(runs, 'first'),
      target: '≤ 50 ms',
      met: first <= 50,
    },
  ];
};

const compareMiniSearch = async (
  workshop: Workshop,
  built: Built,
  ours: readonly SearchMeasure[],
): Promise<Figure[]> => {
  const theirs = await measureEngine(workshop, 'minisearch', built);
  const empty = await measureOnce(workshop, 'none', []);
  const input = built.input.name;
  const above = (runs: readonly SearchMeasure[]) => middle(runs, 'resident') - empty.resident;
  const share = above(ours) / above(theirs);
  const quicker = (quantity: 'p50' | 'p99') => ({
    figure: `MiniSearch, ${quantity}`,
    input,
    measured: `${milliseconds(middle(theirs, quantity))}, ${(middle(theirs, quantity) / middle(ours, quantity)).toFixed(0)} times ours`,
    target: 'ours is faster',
    met: middle(ours, quantity) < middle(theirs, quantity),
  });
  return [
    quicker('p50'),
    quicker('p99'),
    {
      figure: 'memory above an empty process',
      input,
      measured: `ours ${megabytes(above(ours))}, MiniSearch ${megabytes(above(theirs))}: ${(share * 100).toFixed(1)} %`,
      target: '≤ 10 %',
      met: share <= 0.1,
    },
  ];
};

/** Makes the server compute each answer, as it does for the first request. */
const computing = ['--answer-memory', '0'];

const searchPaths = (questions: readonly string[], limit: number): string[] =>
  questions.map(
    (question) => `/v2${operations.packageSearch.address}?q=${encodeURIComponent(question)}&limit=${limit}`,
  );

const duration = 8;

/** More than are answered in one round. */
const mostAnswers = 100_000;

/** The same questions again and again, each time at another address, so that no answer is one that the server has kept. */
const everNewPaths = (paths: readonly string[], round: number): string[] =>
  Array.from({ length: mostAnswers }, (_, index) => `${paths[index % paths.length]}&round=${round}-${index}`);

/** A load on the server as it is served: its options, and what is asked of its figures. */
interface HttpLoad {
  readonly limit: number;
  readonly connections: number;
  readonly perSecond?: number;
  /** In milliseconds. */
  readonly p50?: number;
  readonly p99: number;
}

const httpLoads: readonly HttpLoad[] = [
  { limit: 10, connections: 32, perSecond: 8000, p99: 25 },
  { limit: 100, connections: 1, p50: 0.3, p99: 2 },
];

const measureHttp = async (
  workshop: Workshop,
  built: Built,
  { limit, connections, ...least }: HttpLoad,
): Promise<Figure[]> => {
  const { questions } = await largeQuestions(workshop);
  const server = await startOurs(workshop, built, []);
  const paths = searchPaths(questions, limit);
  await runLoad(workshop, server.address, everNewPaths(paths, 0), { connections, duration: 2 });
  const results: LoadResult[] = [];
  const costs: number[] = [];
  const name = `search through HTTP, limit=${limit}, ${connections === 1 ? 'one connection' : `${connections} connections`}`;
  for (let round = 1; round <= repeats; round++) {
    tell(`${name}, round ${round} of ${repeats}`);
    const before = server.processorSeconds() ?? Number.NaN;
    const result = await runLoad(workshop, server.address, everNewPaths(paths, round), { connections, duration });
    const used = (server.processorSeconds() ?? Number.NaN) - before;
    results.push(result);
    costs.push((used / (result.perSecond * duration)) * 1000);
  }
  await server.stop();
  const errors = results.reduce((sum, result) => sum + result.errors, 0);
  const middleOf = (quantity: 'perSecond' | 'p50' | 'p99') => median(results.map((result) => result[quantity]));
  const rate = middleOf('perSecond');
  const each = results.map(({ perSecond }) => count(perSecond)).join('; ');
  const input = built.input.name;
  const time = (quantity: 'p50' | 'p99', most: number | undefined): Figure => ({
    figure: `${name}: ${quantity}`,
    input,
    measured: milliseconds(middleOf(quantity)),
    ...(most === undefined ? {} : { target: `≤ ${most} ms`, met: middleOf(quantity) <= most }),
  });
  return [
    {
      figure: `${name}: answers a second`,
      input,
      measured: `${count(rate)} (${each}), ${errors} errors; ${milliseconds(median(costs))} of processor time each`,
      ...(least.perSecond === undefined
        ? {}
        : { target: `≥ ${count(least.perSecond)}`, met: rate >= least.perSecond && errors === 0 }),
    },
    time('p50', least.p50),
    time('p99', least.p99),
  ];
};

/** As many servers as cores, started with these flags, each under its own load: total answers a second. */
const measureServers = async (
  workshop: Workshop,
  built: Built,
  questions: readonly string[],
  flags: readonly string[] = [],
): Promise<number> => {
  const servers = await Promise.all(
    Array.from({ length: availableParallelism() }, () => startOurs(workshop, built, flags)),
  );
  const paths = searchPaths(questions, 100);
  const load = async (seconds: number) => {
    const settings = { connections: 8, duration: seconds };
    const results = await Promise.all(servers.map(({ address }) => runLoad(workshop, address, paths, settings)));
    const errors = results.reduce((sum, result) => sum + result.errors, 0);
    // Refusals are faster than answers, so they would improve the result.
    if (errors > 0) throw new Error(`${errors} searches were answered with errors`);
    return results.reduce((sum, { perSecond }) => sum + perSecond, 0);
  };
  await load(2);
  const rate = await load(duration);
  for (const server of servers) await server.stop();
  return rate;
};

/** As many processes of ours as cores, each asking its own index without a socket. */
const measureProcesses = async (workshop: Workshop, { state }: Built, file: string): Promise<number> => {
  const runs = await Promise.all(
    Array.from({ length: availableParallelism() }, () => measureOnce(workshop, 'ours', [state, file, '20'])),
  );
  return runs.reduce((sum, { perSecond }) => sum + perSecond, 0);
};

const comparePostgres = async (workshop: Workshop, built: Built): Promise<Figure[]> => {
  const { questions, file } = await largeQuestions(workshop);
  const peer = await startPostgres(workshop, built.state);
  const input = built.input.name;
  const figures: Figure[] = [];
  const rates: { theirs: number; computed: number; kept: number; inProcess: number; p99: number }[] = [];
  for (let round = 0; round < repeats; round++) {
    tell(`PostgreSQL and ours, round ${round + 1} of ${repeats}`);
    const { perSecond: theirs, times } = await measurePostgres(peer, questions, duration);
    const kept = await measureServers(workshop, built, questions);
    const computed = await measureServers(workshop, built, questions, computing);
    const inProcess = await measureProcesses(workshop, built, file);
    rates.push({ theirs, kept, computed, inProcess, p99: percentile(times, 0.99) });
  }
  await peer.stop();
  const cores = availableParallelism();
  const theirs = median(rates.map((each) => each.theirs));
  figures.push({
    figure: `PostgreSQL ${peer.version}, ${cores} processes, 100 rows: answers a second`,
    input,
    measured: `${count(theirs)}, p99 ${milliseconds(median(rates.map(({ p99 }) => p99)))}`,
  });
  for (const [name, quantity, least] of [
    ['through HTTP as served, the same questions again and again', 'kept', 10],
    ['through HTTP, each computed anew', 'computed', undefined],
    ['in process, each computed anew', 'inProcess', undefined],
  ] as const) {
    const ratio = median(rates.map((each) => each[quantity] / each.theirs));
    figures.push({
      figure: `ours, ${cores} processes, 100 records, ${name}: answers a second`,
      input,
      measured: `${count(median(rates.map((each) => each[quantity])))}, ${ratio.toFixed(1)} times PostgreSQL’s`,
      ...(least === undefined ? {} : { target: `≥ ${least} times`, met: ratio >= least }),
    });
  }
  return figures;
};

const describeSlowest = (runs: readonly SearchMeasure[]): string => {
  const slowest = runs[0]?.slowest ?? [];
  return `\nThe slowest questions, each in its middle round:\n\n${composeTable(
    ['question', 'time'],
    slowest.map(([question, time]) => [question, milliseconds(time)]),
  )}`;
};

/** Search of packages: in process, over HTTP, beside PostgreSQL and MiniSearch. */
export const searchPart: Part = {
  summary: 'search in process and through HTTP, beside PostgreSQL and MiniSearch',
  run: async (workshop) => {
    const built = await builtLarge(workshop);
    const ours = await measureEngine(workshop, 'ours', built);
    const figures = describeOurs(ours, built.input.name);
    for (const load of httpLoads) figures.push(...(await measureHttp(workshop, built, load)));
    figures.push(
      ...(await comparePostgres(workshop, built).catch((error: unknown): Figure[] => {
        if (!(error instanceof Missing)) throw error;
        return [{ figure: 'against PostgreSQL', input: built.input.name, measured: `skipped: ${error.message}` }];
      })),
    );
    figures.push(...(await compareMiniSearch(workshop, built, ours)));
    return (
      composeFigures(figures) +
      `\n500 questions, 100 records each unless said otherwise: ${questionMix}. Load by ${loadTool()}, on the same cores. ` +
      `Medians of ${repeats} runs.\n` +
      describeSlowest(ours)
    );
  },
};

const rowsOf = (runs: readonly SearchMeasure[], input: string): Figure[] => [
  { figure: 'search, p50', input, measured: listTimes(runs, 'p50') },
  { figure: 'search, p99', input, measured: listTimes(runs, 'p99') },
  { figure: 'search, p99 of the questions, each in its middle round', input, measured: listTimes(runs, 'questionP99') },
];

/** Search in a larger index. */
export const growthPart: Part = {
  summary: 'search in process with the input multiplied; builds several gigabytes unless memory did',
  run: async (workshop) => {
    const [one, many] = [await builtLarge(workshop), await builtCopies(workshop)];
    const [small, large] = [await measureEngine(workshop, 'ours', one), await measureEngine(workshop, 'ours', many)];
    const grown = (quantity: Quantity) => middle(large, quantity) / middle(small, quantity);
    const input = `${one.input.name} to ${many.input.name}`;
    return (
      composeFigures([
        ...rowsOf(small, one.input.name),
        ...rowsOf(large, many.input.name),
        {
          figure: 'growth of p99',
          input,
          measured: `${grown('p99').toFixed(2)} times`,
          target: '≤ 3 times',
          met: grown('p99') <= 3,
        },
        {
          figure: 'growth of p99 of the questions, each in its middle round',
          input,
          measured: `${grown('questionP99').toFixed(2)} times`,
        },
        { figure: 'cold: open, first answer', input: many.input.name, measured: listTimes(large, 'first') },
      ]) + describeSlowest(large)
    );
  },
};
