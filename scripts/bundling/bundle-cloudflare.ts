import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Plugin, type RolldownBuild, rolldown } from 'rolldown';
import { readSafetyEntries } from '../../functions/node/safety-file.ts';
import type { SafetyPlace } from '../../src/safety/safety-list.ts';
import {
  type EdgeGateway,
  type EdgePublication,
  otherModules,
  workerModule,
  wranglerSettings,
} from './cloudflare-settings.ts';
import { lazySchemas } from './lazy-schemas.ts';
import { leaner } from './leaner.ts';
import { readLicences } from './licences.ts';
import { namesIn, withoutUnnamed } from './unnamed-methods.ts';

const project = path.join(import.meta.dirname, '..', '..');

/** Where `npm run bundle -- cloudflare` writes the Worker. */
export const cloudflareFolder = path.join(project, 'bundle', 'cloudflare');

/** What the bundle contains besides code. */
export interface CloudflareInput {
  readonly publication: EdgePublication;
  /** If given, the Worker takes only generations signed by this key. */
  readonly publicKey?: string | undefined;
  /** The name of the Worker, which is part of its address. */
  readonly name: string;
  readonly safetyList: URL;
  readonly gateway: EdgeGateway;
}

/** The entry module of the Worker, by what keeps its sign-ins. */
const entries: Readonly<Record<EdgeGateway['kind'], string>> = {
  off: 'worker.ts',
  object: 'with-gateway/object.ts',
  hyperdrive: 'with-gateway/hyperdrive.ts',
};

const builtWith = path.join(project, 'functions', 'cloudflare', 'built-with.ts');

/** What a Worker needs of a safety list. Its pages, which give reasons and sources, are files. */
const placesOf = (safetyList: URL): SafetyPlace[] =>
  readSafetyEntries(safetyList).map(({ host, path: below }) => ({ host, path: below }));

/** Embeds the safety list in the code, because nothing there reads files or YAML. */
const ofBuild = (safetyList: URL): Plugin => ({
  name: 'what the bundle is built with',
  load: (id) =>
    id === builtWith ? `export const builtWith = ${JSON.stringify({ safety: placesOf(safetyList) })};` : undefined,
});

/** Node's modules, which older packages import under names and in ways that the platform does not support. */
const nodeModules: Plugin = {
  name: 'modules of Node',
  resolveId: (name, _, { kind }) => {
    if (kind !== 'require-call' || !isBuiltin(name)) return undefined;
    return `\0required:${name.replace(/^node:/, '')}`;
  },
  load: (id) => {
    const [, name] = /^\0required:(.+)$/.exec(id) ?? [];
    return name === undefined ? undefined : `export * from 'node:${name}';\nexport { default } from 'node:${name}';`;
  },
};

const openBundle = (input: CloudflareInput, more: readonly Plugin[]): Promise<RolldownBuild> =>
  rolldown({
    cwd: project,
    input: path.join(project, 'functions', 'cloudflare', entries[input.gateway.kind]),
    platform: 'browser',
    // Node's modules exist if the configuration enables them, which it does with a gateway.
    external: ['cloudflare:workers', 'cloudflare:sockets', /^node:/],
    // Whether a package is imported or required is known at each place.
    resolve: { conditionNames: ['workerd', 'worker', 'default'] },
    treeshake: { moduleSideEffects: false },
    checks: { pluginTimings: false },
    plugins: [ofBuild(input.safetyList), leaner, lazySchemas, nodeModules, ...more],
  });

/** The names in a bundle from which no method has been removed yet. */
export const readNames = async (input: CloudflareInput): Promise<ReadonlySet<string>> => {
  await using bundle = await openBundle(input, []);
  const { output } = await bundle.generate({ format: 'esm' });
  const modules = output.flatMap((one) => (one.type === 'chunk' ? Object.entries(one.modules) : []));
  return namesIn(modules.map(([id, { code }]) => ({ id, code: code ?? '' })));
};

/** A bundle, with its size in bytes. */
export interface BundledWorker {
  /** Its modules below its folder, with "/" between segments. The first is the one that the platform starts. */
  readonly modules: readonly string[];
  readonly bytes: number;
  /** Size in bytes as the platform's tool computes it: all modules compressed together. */
  readonly compressed: number;
}

/**
 * Bundles the function for Cloudflare Workers into a folder, replacing what was there: one module that starts, others
 * beside it that are loaded later, and the configuration with which the platform's own tool deploys them.
 *
 * @throws Error if a module cannot be read or bundled, SafetyListInvalid
 */
export const bundleCloudflare = async (folder: string, input: CloudflareInput): Promise<BundledWorker> => {
  const made = `${folder}.new`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  await using bundle = await openBundle(input, [withoutUnnamed(await readNames(input))]);
  const { output } = await bundle.write({
    dir: made,
    format: 'esm',
    minify: true,
    entryFileNames: workerModule,
    chunkFileNames: `${otherModules}/[name].js`,
  });
  const chunks = output.filter((one) => one.type === 'chunk');
  writeFileSync(path.join(made, 'LICENSES'), readLicences(chunks.flatMap(({ moduleIds }) => moduleIds)));
  const modules = chunks
    .map(({ fileName }) => fileName)
    .sort((one, other) => Number(other === workerModule) - Number(one === workerModule));
  cpSync(path.join(project, 'LICENSE'), path.join(made, 'LICENSE'));
  writeFileSync(path.join(made, 'wrangler.jsonc'), wranglerSettings(input, folder));
  if (existsSync(folder)) rmSync(folder, { recursive: true });
  renameSync(made, folder);
  const texts = modules.map((name) => readFileSync(path.join(folder, name)));
  const sum = (sizes: readonly number[]): number => sizes.reduce((before, size) => before + size, 0);
  return {
    modules,
    bytes: sum(texts.map(({ length }) => length)),
    compressed: gzipSync(Buffer.concat(texts)).length,
  };
};
