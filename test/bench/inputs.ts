import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { project, startProcess } from './processes.ts';
import { Missing, tell, type Workshop } from './workshop.ts';

// The real repositories beside the project, and the tool there that serves them on loopback.
const shared = path.join(project, '..', 'shared');
const originTool = path.join(shared, 'tools', 'origin.mjs');

/** How often the large index is multiplied to measure growth. */
export const copies = 10;

/** Repositories served on loopback, and the manifest that names them. */
export interface Input {
  readonly name: string;
  readonly manifest: string;
  readonly repositories: number;
  /** The number of requests to each repository since the last `reset`. */
  requests(): Promise<number[]>;
  reset(): Promise<void>;
}

const startOrigin = async (workshop: Workshop, manifest: string, flags: readonly string[]): Promise<string> => {
  if (!existsSync(originTool)) throw new Missing('there is no corpus of real repositories beside the project');
  const origin = await startProcess(process.execPath, [originTool, '--manifest', manifest, ...flags], /"port"/).catch(
    (cause: unknown) => {
      throw new Missing(`the repositories could not be served: ${(cause as Error).message.trim()}`, { cause });
    },
  );
  workshop.atEnd(() => origin.stop());
  return `http://127.0.0.1:${(JSON.parse(origin.line) as { port: number }).port}`;
};

const readManifest = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as object[];

const inputOf = (name: string, manifest: string, address: string): Input => ({
  name,
  manifest,
  repositories: readManifest(manifest).length,
  requests: async () => {
    const { byRepository } = (await (await fetch(`${address}/_stats`)).json()) as {
      byRepository: Record<string, number>;
    };
    return Object.values(byRepository);
  },
  reset: async () => {
    await fetch(`${address}/_reset`);
  },
});

/** The corpus of real repositories. */
export const corpusInput = (workshop: Workshop): Promise<Input> =>
  workshop.once('corpus input', async () => {
    const manifest = workshop.path('corpus.json');
    return inputOf('corpus', manifest, await startOrigin(workshop, manifest, []));
  });

/**
 * A large real index from this machine's own apt lists: once or, if `multiplied`, as many times as there are copies.
 */
export const largeInput = (workshop: Workshop, multiplied = false): Promise<Input> =>
  workshop.once(`large input ${multiplied}`, async () => {
    const manifest = workshop.path('large-copies.json');
    const address = await workshop.once('large origin', () => {
      tell('serving the large index of this machine’s apt lists');
      return startOrigin(workshop, manifest, ['--only-large', '--large', String(copies)]);
    });
    if (multiplied) return inputOf(`large × ${copies}`, manifest, address);
    const one = workshop.path('large.json');
    writeFileSync(one, JSON.stringify(readManifest(manifest).slice(0, 1)));
    return inputOf('large', one, address);
  });
