import { readFileSync, writeFileSync } from 'node:fs';
import { type Built, builtCopies, builtCorpus, builtLarge, runBuild } from './builds.ts';
import { copies } from './inputs.ts';
import { type Run, runNode } from './processes.ts';
import { composeFigures, count, type Figure, megabytes, seconds } from './report.ts';
import { startSmallRepository } from './small-repository.ts';
import { median } from './statistics.ts';
import { takeFigures } from './take-figures.ts';
import { type Part, tell, type Workshop } from './workshop.ts';

const repeats = 3;
const mostOfBare = 1.3;

const repeat = async (work: () => Promise<Run>): Promise<Run[]> => {
  const runs: Run[] = [];
  for (let round = 0; round < repeats; round++) runs.push(await work());
  return runs;
};

const secondsOf = (runs: readonly Run[]): number => median(runs.map((run) => run.seconds));

/** Lists every run, because the spread shows how much the machine was disturbed. */
const listSeconds = (runs: readonly Run[]): string =>
  `${seconds(secondsOf(runs))} (${runs.map((run) => run.seconds.toFixed(2)).join(', ')})`;

const rebuild = ({ input, state, out }: Built): Promise<Run> => runBuild(input.manifest, state, out);

const measureCold = async (workshop: Workshop, built: Built): Promise<Figure[]> => {
  const cold: Run[] = [built.cold];
  const bare: Run[] = [];
  // In folders of their own, which are removed at the end: see site-builds.ts.
  for (let round = 0; round < repeats; round++) {
    tell(`cold build of the large index and the bare work, ${round + 1} of ${repeats}`);
    const folder = `cold-${round}`;
    const [state, out] = [workshop.path(folder, 'state'), workshop.path(folder, 'dist')];
    if (round > 0) cold.push(await runBuild(built.input.manifest, state, out));
    const [made, index] = [workshop.path(folder, 'bare'), workshop.path(folder, 'bare.sqlite')];
    bare.push(await runNode([workshop.script('bare.ts'), built.state, 'large', made, index]));
  }
  const peak = Math.max(...cold.map((run) => run.peak));
  const processor = median(cold.map((run) => run.processorSeconds));
  const ratio = secondsOf(cold) / secondsOf(bare);
  const input = built.input.name;
  return [
    { figure: 'cold build', input, measured: listSeconds(cold), target: '≤ 10 s', met: secondsOf(cold) <= 10 },
    { figure: 'cold build, processor time', input, measured: seconds(processor) },
    { figure: 'cold build, peak memory', input, measured: megabytes(peak), target: '≤ 600 MB', met: peak <= 600e6 },
    { figure: 'bare parse, serialise, write and index', input, measured: listSeconds(bare) },
    {
      figure: 'cold build against bare work',
      input,
      measured: `${ratio.toFixed(2)} times`,
      target: `≤ ${mostOfBare} times`,
      met: ratio <= mostOfBare,
    },
  ];
};

const measureUnchanged = async (built: Built, most: number): Promise<Figure[]> => {
  const { input } = built;
  tell(`unchanged rebuild: ${input.name}`);
  await input.reset();
  const first = await rebuild(built);
  const requests = await input.requests();
  const runs = [first, ...(await repeat(() => rebuild(built)))];
  const single = requests.filter((each) => each === 1).length;
  const double = requests.filter((each) => each === 2).length;
  const total = requests.reduce((sum, each) => sum + each, 0);
  return [
    {
      figure: 'rebuild with nothing changed',
      input: input.name,
      measured: listSeconds(runs),
      target: `≤ ${most} s`,
      met: secondsOf(runs) <= most,
    },
    {
      figure: 'requests it sends',
      input: input.name,
      measured: `${count(total)}: one to ${single}, two to ${double} repositories`,
      target: 'one where Release lists hashes, else two',
      met: single + double === input.repositories,
    },
  ];
};

const measureChanged = async (workshop: Workshop, built: Built): Promise<Figure> => {
  tell(`rebuild after one small repository changed: ${built.input.name}`);
  const small = await startSmallRepository(workshop);
  const manifest = workshop.path('with-small.json');
  writeFileSync(manifest, JSON.stringify([...JSON.parse(readFileSync(built.input.manifest, 'utf8')), small.entry]));
  const run = () => runBuild(manifest, built.state, built.out);
  await run();
  const unchanged = await repeat(run);
  const changed = await repeat(() => {
    small.change();
    return run();
  });
  const difference = secondsOf(changed) - secondsOf(unchanged);
  // Removes the small repository again, because the other parts expect it to be absent.
  await rebuild(built);
  return {
    figure: 'rebuild after one small repository changed',
    input: built.input.name,
    measured: `${listSeconds(changed)}, ${seconds(difference)} more than the ${seconds(secondsOf(unchanged))} unchanged`,
    target: 'within 1 s of the unchanged rebuild',
    met: difference <= 1,
  };
};

/** The cost of a build: cold, without changes, and with one changed repository. */
export const buildPart: Part = {
  summary: 'what a build takes: cold, with nothing changed, with one small repository changed',
  run: async (workshop) => {
    return takeFigures([
      async () => {
        const corpus = await builtCorpus(workshop);
        return [
          { figure: 'cold build', input: 'corpus', measured: seconds(corpus.cold.seconds) },
          ...(await measureUnchanged(corpus, 1)),
          await measureChanged(workshop, corpus),
        ];
      },
      async () => {
        const large = await builtLarge(workshop);
        return [
          ...(await measureCold(workshop, large)),
          ...(await measureUnchanged(large, 2)),
          await measureChanged(workshop, large),
        ];
      },
    ]);
  },
};

/** How the memory of a build grows with its input. */
export const memoryPart: Part = {
  summary: `peak memory of a build with ${copies} times the input; writes several gigabytes`,
  run: async (workshop) => {
    const one = await builtLarge(workshop);
    const many = await builtCopies(workshop);
    const factor = many.cold.peak / one.cold.peak;
    return composeFigures([
      { figure: 'peak memory of a cold build', input: one.input.name, measured: megabytes(one.cold.peak) },
      { figure: 'peak memory of a cold build', input: many.input.name, measured: megabytes(many.cold.peak) },
      { figure: 'seconds of a cold build', input: many.input.name, measured: seconds(many.cold.seconds) },
      {
        figure: 'growth of the peak',
        input: `${one.input.name} to ${many.input.name}`,
        measured: `${factor.toFixed(2)} times, with ${copies} times the input`,
        target: 'less than half as fast as the input',
        met: factor < copies / 2,
      },
    ]);
  },
};
