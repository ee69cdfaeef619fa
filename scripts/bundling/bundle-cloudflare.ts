import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Plugin, rolldown } from 'rolldown';
import { readSafetyEntries } from '../../functions/node/safety-file.ts';
import { type EdgeGateway, type EdgePublication, wranglerSettings } from './cloudflare-settings.ts';
import { readLicences } from './licences.ts';

const project = path.join(import.meta.dirname, '..', '..');

/** Where `npm run bundle -- cloudflare` leaves the Worker. */
export const cloudflareFolder = path.join(project, 'bundle', 'cloudflare');

/** What goes into the bundle besides programs. */
export interface CloudflareInput {
  readonly publication: EdgePublication;
  /** Only what is signed by it is taken. */
  readonly publicKey?: string | undefined;
  /** The name of the Worker, which is a part of its address. */
  readonly name: string;
  readonly safetyList: URL;
  readonly gateway: EdgeGateway;
}

/** The module that the Worker is made of, by what keeps its sign-ins. */
const entries: Readonly<Record<EdgeGateway['kind'], string>> = {
  off: 'worker.ts',
  object: 'with-gateway/object.ts',
  hyperdrive: 'with-gateway/hyperdrive.ts',
};

const builtWith = path.join(project, 'functions', 'cloudflare', 'built-with.ts');

/** The safety list as a part of the program: nothing there reads files, or YAML. */
const ofBuild = (safetyList: URL): Plugin => ({
  name: 'what the bundle is built with',
  load: (id) =>
    id === builtWith
      ? `export const builtWith = ${JSON.stringify({ safety: readSafetyEntries(safetyList) })};`
      : undefined,
});

// Modules of zod that describe schemas, which a build does.
const describing = /zod[/\\]v4[/\\]core[/\\](?:to-json-schema|json-schema-processors)\.js$/;

/** A module with the names of another, that does nothing. */
const nothingOf = (file: string): string => {
  const names = readFileSync(file, 'utf8').matchAll(/^export (?:const|function) (\w+)/gm);
  const exported = [...names].map(([, name]) => `nothing as ${name}`).join(', ');
  return `const nothing = () => { throw new Error('Schemas are described by a build'); };\nexport { ${exported} };`;
};

/**
 * Without what is reached and never used: zod's sentences in fifty languages, which are half of all bytes, and what describes
 * schemas or writes YAML, since the description is published.
 */
const leaner: Plugin = {
  name: 'leaner',
  load: (id) => {
    if (/zod[/\\]v4[/\\]locales[/\\]index\.js$/.test(id)) return "export { default as en } from './en.js';";
    if (describing.test(id)) return nothingOf(id);
    if (id === path.join(project, 'src', 'contract', 'yaml.ts')) {
      return "export const composeYaml = () => { throw new Error('The description is published as YAML, and not written here'); };";
    }
    return undefined;
  },
};

const lazyZod = path.join(project, 'functions', 'cloudflare', 'lazy-zod.ts');

/** Has the contract's schemas made when they are first asked, of which a Worker asks few. */
const lazySchemas: Plugin = {
  name: 'lazy schemas',
  resolveId: (name, from) =>
    name === 'zod' && from?.startsWith(path.join(project, 'src', 'contract')) ? lazyZod : undefined,
};

/** Node's modules, which older packages ask for by names and in ways that the platform does not know. */
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

/** The size of a bundle, in bytes. */
export interface BundledWorker {
  readonly bytes: number;
  readonly compressed: number;
}

/**
 * Bundles the function for Cloudflare Workers into a folder, in the place of what was there: one module, and the
 * configuration with which the platform's own tool deploys it.
 *
 * @throws Error where a module cannot be read or bundled, SafetyListInvalid
 */
export const bundleCloudflare = async (folder: string, input: CloudflareInput): Promise<BundledWorker> => {
  const made = `${folder}.new`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  const bundle = await rolldown({
    cwd: project,
    input: path.join(project, 'functions', 'cloudflare', entries[input.gateway.kind]),
    platform: 'browser',
    // Node's are there where the configuration asks for them, which is with a gateway.
    external: ['cloudflare:workers', 'cloudflare:sockets', /^node:/],
    // Whether a package is imported or required is known of each place.
    resolve: { conditionNames: ['workerd', 'worker', 'default'] },
    treeshake: { moduleSideEffects: false },
    plugins: [ofBuild(input.safetyList), leaner, lazySchemas, nodeModules],
  });
  try {
    const { output } = await bundle.write({
      file: path.join(made, 'worker.js'),
      format: 'esm',
      minify: true,
      // One module, in which what is imported later is made later.
      codeSplitting: false,
    });
    writeFileSync(
      path.join(made, 'LICENSES'),
      readLicences(output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))),
    );
  } finally {
    await bundle.close();
  }
  cpSync(path.join(project, 'LICENSE'), path.join(made, 'LICENSE'));
  writeFileSync(path.join(made, 'wrangler.jsonc'), wranglerSettings(input, folder));
  if (existsSync(folder)) rmSync(folder, { recursive: true });
  renameSync(made, folder);
  const bytes = readFileSync(path.join(folder, 'worker.js'));
  return { bytes: bytes.length, compressed: gzipSync(bytes).length };
};
