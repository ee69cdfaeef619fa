import { hash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Miniflare } from 'miniflare';
import type { CatalogStub, ObjectName } from '../../functions/cloudflare/catalog-stub.ts';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { type BundledWorker, bundleCloudflare } from '../../scripts/bundling/bundle-cloudflare.ts';
import { compatibilityDate, type EdgeGateway } from '../../scripts/bundling/cloudflare-settings.ts';
import { makeOnce } from './once-in-run.ts';

/** A bundle of the Worker. */
export interface EdgeBundle extends BundledWorker {
  readonly folder: string;
}

const bundleInto = (folder: string, gateway: EdgeGateway): Promise<BundledWorker> => {
  const publication = { kind: 'address', address: 'https://index.invalid' } as const;
  return bundleCloudflare(folder, { publication, name: 'debdex', safetyList: safetyFile, gateway });
};

/**
 * Bundles the Worker as `npm run bundle -- cloudflare` does, into a new folder, which the caller removes. In a run of
 * the tests it is bundled once for each kind of gateway, and then copied.
 */
export const makeEdgeBundle = async (gateway: EdgeGateway = { kind: 'off' }): Promise<EdgeBundle> => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'debdex-edge-')), 'cloudflare');
  const run = process.env.DEBDEX_TESTS_FOLDER;
  if (run === undefined) return { ...(await bundleInto(folder, gateway)), folder };
  const name = `edge-bundle-${hash('sha256', JSON.stringify(gateway))}`;
  const whole = await makeOnce(run, name, async (aside) => {
    const made = await bundleInto(path.join(aside, 'cloudflare'), gateway);
    writeFileSync(path.join(aside, 'made.json'), JSON.stringify(made));
  });
  cpSync(path.join(whole, 'cloudflare'), folder, { recursive: true });
  return { ...(JSON.parse(readFileSync(path.join(whole, 'made.json'), 'utf8')) as BundledWorker), folder };
};

/**
 * The modules of a bundle for the runtime. They are listed by name, because a driver computes the name of an import.
 */
export const modulesOf = ({ folder, modules }: EdgeBundle) =>
  modules.map((name) => ({
    type: 'ESModule' as const,
    path: name,
    contents: readFileSync(path.join(folder, name), 'utf8'),
  }));

/** Where a Worker finds its publication. */
type EdgeSource = { readonly address: string } | { readonly assets: string } | { readonly bucket: true };

export interface EdgeRuntimeOptions {
  readonly source: EdgeSource;
  /** A folder for its storage; it may contain that of an earlier one. */
  readonly storage: string;
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * Where the gateway keeps sign-ins, matching the bundle: an object, or the database at an address; undefined for no
   * gateway.
   */
  readonly gateway?: 'object' | { readonly database: string };
}

interface WritableBucket {
  put(key: string, bytes: Uint8Array, options: { customMetadata: Record<string, string> }): Promise<unknown>;
}

/** A Worker in the platform's own runtime, on loopback. */
export interface EdgeRuntime {
  readonly address: string;
  /** The lines of its log, as objects. */
  readonly lines: readonly Record<string, unknown>[];
  /** The number of the generation that was taken over last, according to the log; undefined if there was none. */
  taken(): number | undefined;
  /** Puts a file into its bucket. */
  put(key: string, bytes: Uint8Array, sha256: string): Promise<void>;
  /** One of the two objects that keep a catalog. */
  object(name: ObjectName): Promise<Pick<CatalogStub, 'take' | 'retire'>>;
  /** Runs its scheduled work. */
  runScheduled(): Promise<void>;
  /** Kills the runtime, whatever it is doing. */
  kill(): Promise<void>;
}

/** Starts a bundled Worker that looks for a new generation every second. */
export const runEdge = async (
  bundle: EdgeBundle,
  { source, storage, variables = {}, gateway }: EdgeRuntimeOptions,
): Promise<EdgeRuntime> => {
  const lines: Record<string, unknown>[] = [];
  const workerd = new Miniflare({
    modules: modulesOf(bundle),
    compatibilityDate,
    host: '127.0.0.1',
    port: 0,
    // An address of the runtime at which its scheduled work is run.
    unsafeTriggerHandlers: true,
    ...(gateway === undefined ? {} : { compatibilityFlags: ['nodejs_compat'] }),
    durableObjects: {
      CATALOG: { className: 'CatalogObject', useSQLite: true },
      DOWNLOADS: { className: 'DownloadsObject', useSQLite: true },
      ...(gateway === 'object' ? { CREDENTIALS: { className: 'GatewayObject', useSQLite: true } } : {}),
    },
    ...(typeof gateway === 'object' ? { hyperdrives: { HYPERDRIVE: gateway.database } } : {}),
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
      lines.push(message.startsWith('{') ? JSON.parse(message) : { event: 'other', message });
    },
  });
  const address = (await workerd.ready).origin;
  let isOpen = true;
  let bindings: Promise<{ BUCKET: WritableBucket }> | undefined;
  return {
    address,
    lines,
    taken: () =>
      lines
        .flatMap(({ event, message }) =>
          event === 'generation-taken' ? Number(/^Generation (\d+)/.exec(String(message))?.[1]) : [],
        )
        .at(-1),
    put: async (key, bytes, sha256) => {
      // Each call of getBindings creates all of them again.
      bindings ??= workerd.getBindings<{ BUCKET: WritableBucket }>();
      const { BUCKET } = await bindings;
      await BUCKET.put(key, bytes, { customMetadata: { sha256 } });
    },
    object: async (name) => {
      const { CATALOG } = await workerd.getBindings<{ CATALOG: { getByName(name: string): CatalogStub } }>();
      return CATALOG.getByName(name);
    },
    runScheduled: async () => {
      // Asking the Worker itself, by its object here, would start a thread for every runtime that is asked so.
      const outcome = await (await fetch(`${address}/cdn-cgi/handler/scheduled`)).text();
      if (outcome !== 'ok') throw new Error(`scheduled: ${outcome}`);
    },
    kill: async () => {
      if (isOpen) await workerd.dispose();
      isOpen = false;
    },
  };
};
