import path from 'node:path';
import { Miniflare } from 'miniflare';
import { rolldown } from 'rolldown';
import { compatibilityDate } from '../../scripts/bundling/cloudflare-settings.ts';

/** The cost of taking over a generation, in rows as the platform counts them. */
export interface TakingCosts {
  readonly written: number;
  readonly read: number;
  /** The part of them that was read to find out which portions are already stored. */
  readonly readOfPlaces: number;
  /** How often a part of the full-text index was merged. */
  readonly merged: number;
}

/** An object in the platform's runtime that takes over the generations that an address publishes. */
export interface CountedTaking {
  /** Makes it take over the generation in force. */
  take(): Promise<TakingCosts>;
  stop(): Promise<void>;
}

let bundled: Promise<string> | undefined;
const bundleTaking = async (): Promise<string> => {
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, 'taking-object.ts'),
    platform: 'browser',
    external: ['cloudflare:workers'],
    treeshake: { moduleSideEffects: false },
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  return output[0].code;
};

/** Starts one without a generation. */
export const startCountedTaking = async (address: string): Promise<CountedTaking> => {
  bundled ??= bundleTaking();
  const contents = await bundled;
  const workerd = new Miniflare({
    modules: [{ type: 'ESModule', path: 'taking.js', contents }],
    compatibilityDate,
    host: '127.0.0.1',
    port: 0,
    durableObjects: { TAKING: { className: 'TakingObject', useSQLite: true } },
    bindings: { PUBLICATION: address },
  });
  const { origin } = await workerd.ready;
  return {
    take: async () => {
      const answer = await fetch(origin);
      if (answer.status !== 200) throw new Error(await answer.text());
      return (await answer.json()) as TakingCosts;
    },
    stop: () => workerd.dispose(),
  };
};
