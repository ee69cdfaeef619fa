import { readFileSync, writeFileSync } from 'node:fs';
import { type Built, build, runBuild } from './builds.ts';
import type { Input } from './inputs.ts';
import { type ChangingInput, copies, debianInputs } from './million-inputs.ts';
import { type Run, runNode } from './processes.ts';
import { count, type Figure, megabytes, seconds } from './report.ts';
import { startSmallRepository } from './small-repository.ts';
import { median } from './statistics.ts';
import { tell, tellWhile, type Workshop } from './workshop.ts';

const rounds = 3;
const most = { ratio: 1.3, times: 18, bytes: 1e9, changedSeconds: 2 } as const;

/** One altered copy of Debian main, built. */
export const builtOne = (workshop: Workshop): Promise<Built> =>
  workshop.once('one altered copy', async () => build(workshop, (await debianInputs(workshop)).one, 'one'));

/** A million packages, built. */
export const builtMillion = (workshop: Workshop): Promise<Built & { readonly input: ChangingInput }> =>
  workshop.once('a million', async () => {
    const { all } = await debianInputs(workshop);
    return { ...(await build(workshop, all, 'million')), input: all };
  });

const told = ({ seconds: took, processorSeconds }: Run): string =>
  `${seconds(took)}, ${seconds(processorSeconds)} of processor time`;

// In folders of their own, which are removed at the end: see site-builds.ts.
const bareWork = (workshop: Workshop, { state }: Built, round: number): Promise<Run> => {
  const [out, index] = [workshop.path(`bare-${round}`), workshop.path(`bare-${round}.sqlite`)];
  return runNode([workshop.script('bare.ts'), state, 'altered-1', out, index]);
};

/** A cold build compared with the bare work, and a cold build of a million packages compared with the first. */
export const measureColdBuilds = async (workshop: Workshop): Promise<Figure[]> => {
  const one = await builtOne(workshop);
  const cold: Run[] = [one.cold];
  const bare: Run[] = [];
  for (let round = 0; round < rounds; round++) {
    tell(`one cold build and the bare work, ${round + 1} of ${rounds}`);
    const folder = `again-${round}`;
    const [state, out] = [workshop.path(folder, 'state'), workshop.path(folder, 'dist')];
    if (round > 0) cold.push(await runBuild(one.input.manifest, state, out));
    bare.push(await bareWork(workshop, one, round));
  }
  // Processor time hardly depends on other load.
  const processor = (runs: readonly Run[]) => median(runs.map((run) => run.processorSeconds));
  const wall = (runs: readonly Run[]) => median(runs.map((run) => run.seconds));
  const ratio = wall(cold) / wall(bare);
  const middle = { ...one.cold, seconds: wall(cold), processorSeconds: processor(cold) };
  const million = await builtMillion(workshop);
  const times = million.cold.seconds / wall(cold);
  const input = one.input.name;
  return [
    {
      figure: 'bare parse, serialise, write and index',
      input,
      measured: `${seconds(wall(bare))}, ${seconds(processor(bare))} of processor time`,
    },
    {
      figure: 'cold build without site',
      input,
      measured: `${told(middle)}: ${ratio.toFixed(2)} and ${(processor(cold) / processor(bare)).toFixed(2)} times the bare work`,
      target: `≤ ${most.ratio} times`,
      met: ratio <= most.ratio,
    },
    {
      figure: 'cold build without site',
      input: million.input.name,
      measured: `${told(million.cold)}: ${times.toFixed(1)} and ${(million.cold.processorSeconds / processor(cold)).toFixed(1)} times those of one`,
      target: `≤ ${most.times} times, for ${copies} times the input`,
      met: times <= most.times,
    },
    {
      figure: 'peak memory of it',
      input: million.input.name,
      measured: megabytes(million.cold.peak),
      target: '≤ 1 GB',
      met: million.cold.peak <= most.bytes,
    },
  ];
};

const written = (run: Run): string =>
  /(\d[\d,]*) documents? written|(\d[\d,]*) written/.exec(run.stdout)?.[0] ?? run.stdout.trim().slice(0, 120);

const takeChange = async (
  { state, out }: Built,
  manifest: string,
  change: () => Promise<void> | void,
): Promise<{ unchanged: Run; changed: Run }> => {
  const unchanged = await runBuild(manifest, state, out);
  await change();
  return { unchanged, changed: await runBuild(manifest, state, out) };
};

const changedFigure = (
  figure: string,
  input: Input,
  { unchanged, changed }: { unchanged: Run; changed: Run },
): Figure => ({
  figure,
  input: input.name,
  measured: `${told(changed)}, ${megabytes(changed.peak)}; nothing changed ${told(unchanged)}, ${megabytes(unchanged.peak)}; ${written(changed)}`,
  target: `≤ ${most.changedSeconds} s`,
  met: changed.seconds <= most.changedSeconds,
});

/** One changed package among a million: in a small repository beside them, and in one with sixty thousand packages. */
export const measureChangedMillion = async (workshop: Workshop): Promise<Figure[]> => {
  const million = await builtMillion(workshop);
  const small = await startSmallRepository(workshop);
  const manifest = workshop.path('million-with-small.json');
  writeFileSync(manifest, JSON.stringify([...JSON.parse(readFileSync(million.input.manifest, 'utf8')), small.entry]));
  await tellWhile('adding a small repository', runBuild(manifest, million.state, million.out));
  const beside = await tellWhile(
    'one package of a small repository changes',
    takeChange(million, manifest, () => small.change()),
  );
  const within = await tellWhile(
    'one package of a large repository changes',
    takeChange(million, manifest, () => million.input.change()),
  );
  return [
    changedFigure('one package of a small repository changed, without site', million.input, beside),
    changedFigure(`one package of a repository of ${count(63_000)} changed, without site`, million.input, within),
  ];
};
