import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Miniflare } from 'miniflare';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { compatibilityDate } from '../../scripts/bundling/cloudflare-settings.ts';
import { makeOnce } from './once-in-run.ts';

// As in the deployed bundle, so that this one leaves out the same.
const deployed = {
  publication: { kind: 'address', address: 'https://index.example' },
  name: 'tested',
  safetyList: safetyFile,
  gateway: { kind: 'object', publicAddress: 'https://index.example' },
} as const;

const bundleProgram = async (): Promise<string> => {
  // Loaded here, because most processes find the bundle made, and to load what makes it takes as long as a kill.
  const { rolldown } = await import('rolldown');
  const { readNames } = await import('../../scripts/bundling/bundle-cloudflare.ts');
  const { leaner } = await import('../../scripts/bundling/leaner.ts');
  const { withoutUnnamed } = await import('../../scripts/bundling/unnamed-methods.ts');
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, 'tested-object-worker.ts'),
    platform: 'browser',
    external: ['cloudflare:workers', /^node:/],
    resolve: { conditionNames: ['workerd', 'worker', 'import', 'default'] },
    checks: { pluginTimings: false },
    plugins: [leaner, withoutUnnamed(await readNames(deployed))],
  });
  try {
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
    return output[0].code;
  } finally {
    await bundle.close();
  }
};

/**
 * Bundles the Worker through which tests call the gateway's and the downloads' object, without the parts that the
 * deployed bundle leaves out. In a run of the tests it is bundled once.
 */
export const bundleTestedObject = async (): Promise<string> => {
  const run = process.env.DEBDEX_TESTS_FOLDER;
  if (run === undefined) return bundleProgram();
  const whole = await makeOnce(run, 'tested-object', async (aside) =>
    writeFileSync(path.join(aside, 'worker.js'), await bundleProgram()),
  );
  return readFileSync(path.join(whole, 'worker.js'), 'utf8');
};

/** Objects in the platform's own runtime, on loopback. Each path of the address leads to an object of its own. */
export interface TestedObjects {
  readonly address: string;
  /** Kills the runtime, whatever it is doing. */
  kill(): Promise<void>;
}

/** Starts it over a folder, which may contain the objects of an earlier one; by default on a free port. */
export const startTestedObjects = async (
  script: string,
  { storage, port = 0 }: { readonly storage: string; readonly port?: number },
): Promise<TestedObjects> => {
  const workerd = new Miniflare({
    modules: true,
    script,
    compatibilityDate,
    compatibilityFlags: ['nodejs_compat'],
    host: '127.0.0.1',
    port,
    durableObjects: {
      STORES: { className: 'TestedObject', useSQLite: true },
      DOWNLOADS: { className: 'TestedDownloads', useSQLite: true },
    },
    durableObjectsPersist: storage,
  });
  const { origin } = await workerd.ready;
  return { address: origin, kill: () => workerd.dispose() };
};

/** The same over a folder of its own, which is removed with it. */
export const startNewTestedObjects = async (): Promise<TestedObjects> => {
  const storage = mkdtempSync(path.join(tmpdir(), 'debdex-objects-'));
  const { address, kill } = await startTestedObjects(await bundleTestedObject(), { storage });
  return {
    address,
    kill: async () => {
      await kill();
      rmSync(storage, { recursive: true, force: true });
    },
  };
};
