import { readFileSync, writeFileSync } from 'node:fs';
import { corpusInput } from './inputs.ts';
import { npmScript, type Run, runNode } from './processes.ts';
import { type Figure, seconds } from './report.ts';
import { startSmallRepository } from './small-repository.ts';
import { median } from './statistics.ts';
import { tell, type Workshop } from './workshop.ts';

const secondsOf = (runs: readonly Run[]): number => median(runs.map((run) => run.seconds));

/**
 * Builds the corpus and one more repository, documents and site, `rounds` times from nothing, and after each again with
 * a new version of that repository. Measures what a maintainer waits for: from the start of the command to its end.
 */
export const measureWholeBuilds = async (workshop: Workshop, rounds: number): Promise<readonly Figure[]> => {
  const { manifest } = await corpusInput(workshop);
  const small = await startSmallRepository(workshop);
  const file = workshop.path('whole.json');
  writeFileSync(file, JSON.stringify([...(JSON.parse(readFileSync(manifest, 'utf8')) as object[]), small.entry]));
  const [cold, changed]: [Run[], Run[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    tell(`documents and site of the corpus, ${round + 1} of ${rounds}`);
    const folders = ['state', 'out'].flatMap((name) => [`--${name}`, workshop.path(`whole-${round}`, name)]);
    const command = [...npmScript('build'), '--manifest', file, ...folders, '--allow-private-networks'];
    cold.push(await runNode(command));
    small.change();
    changed.push(await runNode(command));
  }
  const ratio = secondsOf(changed) / secondsOf(cold);
  return [
    { figure: 'documents and site, whole command', input: 'corpus', measured: seconds(secondsOf(cold)) },
    {
      figure: 'the same with one repository changed',
      input: 'corpus',
      measured: `${seconds(secondsOf(changed))}, ${(100 * ratio).toFixed(0)} %`,
      target: '≤ a third',
      met: ratio <= 1 / 3,
    },
  ];
};
