import { corpusInput, type Input, largeInput } from './inputs.ts';
import { npmScript, type Run, runNode } from './processes.ts';
import { tellWhile, type Workshop } from './workshop.ts';

/** A built index, and the cost of building it. */
export interface Built {
  readonly input: Input;
  readonly state: string;
  readonly out: string;
  /** The build into empty folders. */
  readonly cold: Run;
}

/** Builds into these folders and measures it. `more` are further flags. */
export const runBuild = (manifest: string, state: string, out: string, more: readonly string[] = []): Promise<Run> =>
  runNode([
    ...npmScript('build'),
    ...['--manifest', manifest, '--state', state, '--out', out, '--allow-private-networks', '--no-site'],
    ...more,
  ]);

/** Builds an input into two empty folders of the workshop. */
export const build = async (workshop: Workshop, input: Input, folder: string): Promise<Built> => {
  const state = workshop.path(folder, 'state');
  const out = workshop.path(folder, 'dist');
  return { input, state, out, cold: await tellWhile(`building: ${input.name}`, runBuild(input.manifest, state, out)) };
};

/** The corpus, built. */
export const builtCorpus = (workshop: Workshop): Promise<Built> =>
  workshop.once('corpus', async () => build(workshop, await corpusInput(workshop), 'corpus'));

/** The large index, built. */
export const builtLarge = (workshop: Workshop): Promise<Built> =>
  workshop.once('large', async () => build(workshop, await largeInput(workshop), 'large'));

/** The multiplied large index, built: several gigabytes. */
export const builtCopies = (workshop: Workshop): Promise<Built> =>
  workshop.once('copies', async () => build(workshop, await largeInput(workshop, true), 'copies'));
