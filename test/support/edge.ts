import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Miniflare } from 'miniflare';
import { onTestFinished, vi } from 'vitest';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { type BundledWorker, bundleCloudflare } from '../../scripts/bundling/bundle-cloudflare.ts';
import { compatibilityDate } from '../../scripts/bundling/cloudflare-settings.ts';
import { temporaryFolder } from './folder.ts';

/** A bundle of the Worker, made once for all tests of a file. */
export interface EdgeBundle extends BundledWorker {
  readonly folder: string;
}

/** Bundles the Worker as `npm run bundle -- cloudflare` does, into a new folder below the one for a whole run. */
export const makeEdgeBundle = async (): Promise<EdgeBundle> => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'debdex-edge-')), 'cloudflare');
  const publication = { kind: 'address', address: 'https://index.invalid' } as const;
  const made = await bundleCloudflare(folder, { publication, name: 'debdex', safetyList: safetyFile });
  return { ...made, folder };
};

/** Where the publication is that a Worker is of. */
type EdgeSource = { readonly address: string } | { readonly assets: string } | { readonly bucket: true };

/** The Worker in the platform's own runtime, on loopback. */
export interface EdgeServer {
  readonly address: string;
  /** What it wrote into its log, as objects. */
  readonly lines: readonly Record<string, unknown>[];
  get(target: string, headers?: Record<string, string>): Promise<Response>;
  /** From which generation it answers; null where from none yet. */
  generation(): Promise<number | null>;
  /** Resolves when it answers from the generation of this number. */
  until(number: number): Promise<void>;
  /** Puts a file into its bucket. */
  put(key: string, bytes: Uint8Array, sha256: string): Promise<void>;
  /** Ends the runtime, whatever it does. */
  kill(): Promise<void>;
}

interface WritableBucket {
  put(key: string, bytes: Uint8Array, options: { customMetadata: Record<string, string> }): Promise<unknown>;
}

interface EdgeOptions {
  readonly source: EdgeSource;
  /** A folder with the storage of an earlier one. */
  readonly storage?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Starts a bundled Worker, which asks for a new generation every second. */
export const startEdge = async ({ folder }: EdgeBundle, options: EdgeOptions): Promise<EdgeServer> => {
  const { source, storage = temporaryFolder(), variables = {} } = options;
  const lines: Record<string, unknown>[] = [];
  const workerd = new Miniflare({
    modules: true,
    script: readFileSync(path.join(folder, 'worker.js'), 'utf8'),
    compatibilityDate,
    host: '127.0.0.1',
    port: 0,
    durableObjects: { CATALOG: { className: 'CatalogObject', useSQLite: true } },
    durableObjectsPersist: storage,
    bindings: {
      INTERVAL: '1',
      RATE_LIMIT: '0',
      ...('address' in source ? { PUBLICATION: source.address } : {}),
      ...variables,
    },
    ...('bucket' in source ? { r2Buckets: ['BUCKET'], r2Persist: storage } : {}),
    ...('assets' in source
      ? {
          assets: {
            directory: source.assets,
            binding: 'ASSETS',
            assetConfig: { html_handling: 'none', not_found_handling: 'none' },
            routerConfig: { has_user_worker: true, invoke_user_worker_ahead_of_assets: true },
          },
        }
      : {}),
    handleStructuredLogs: ({ message }: { message: string }) => {
      if (message.startsWith('{')) lines.push(JSON.parse(message));
      else lines.push({ event: 'other', message });
    },
  });
  const address = (await workerd.ready).origin;
  let isOpen = true;
  const kill = async () => {
    if (isOpen) await workerd.dispose();
    isOpen = false;
  };
  onTestFinished(kill);
  const get: EdgeServer['get'] = (target, headers = {}) =>
    fetch(address + target, { headers: { 'accept-encoding': 'identity', ...headers }, redirect: 'manual' });
  const taken = () =>
    lines.flatMap(({ event, message }) =>
      event === 'generation-taken' ? Number(/^Generation (\d+)/.exec(String(message))?.[1]) : [],
    );
  const generation = async () => taken().at(-1) ?? null;
  return {
    address,
    lines,
    get,
    generation,
    until: async (number) => {
      // Whoever is not asked follows nothing.
      await (await get('/livez')).body?.cancel();
      await vi.waitFor(
        () => {
          if (taken().at(-1) !== number)
            throw new Error(`generation ${taken().at(-1)} is in force: ${JSON.stringify(lines.slice(-3))}`);
        },
        { timeout: 60_000, interval: 50 },
      );
    },
    put: async (key, bytes, sha256) => {
      const { BUCKET } = await workerd.getBindings<{ BUCKET: WritableBucket }>();
      await BUCKET.put(key, bytes, { customMetadata: { sha256 } });
    },
    kill,
  };
};
