import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { LockedError, lockBundles } from '../src/catalog/lock.ts';
import { type Generation, generationPath } from '../src/contract/generation.ts';
import { computeKey, holds, makeBundle, productFolder } from '../src/site/bundle.ts';
import { bundleClient, clientFolder } from './bundling/bundle-client.ts';
import { bundleCloudflare, cloudflareFolder } from './bundling/bundle-cloudflare.ts';
import { bundleFetch, fetchFolder } from './bundling/bundle-fetch.ts';
import { bundledCommands, bundleServer, serverFolder } from './bundling/bundle-server.ts';
import { readEdgeGateway, readEdgePublication } from './bundling/cloudflare-settings.ts';
import { aloneEndings, exitCodes } from './exit-codes.ts';
import { CommandFailure, findTyped, type OptionValues, runCommand, UsageError } from './options.ts';
import { assertPublicKey } from './publication-options.ts';
import { dataOption, readUnsafe, safetyFileOf } from './read-service.ts';

const shown = (folder: string): string => path.relative(process.cwd(), folder);

/** Bundles while nobody else does. Two at once would write into each other's folders. */
const alone = async <T>(work: () => Promise<T>): Promise<T> => {
  let unlock: () => void;
  try {
    unlock = lockBundles(path.dirname(productFolder));
  } catch (error) {
    throw error instanceof LockedError ? new CommandFailure(error.message, exitCodes.busy) : error;
  }
  try {
    return await work();
  } finally {
    unlock();
  }
};

const bundlePages = async (): Promise<void> => {
  const folder = shown(productFolder);
  // Whoever only needs the bundle to exist does not wait.
  const made = !holds(productFolder, computeKey()) && (await alone(() => makeBundle(productFolder)));
  process.stdout.write(made ? `Bundled the pages into ${folder}.\n` : `${folder} is up to date.\n`);
};

const bundleCommands = async (): Promise<void> => {
  const { files, bytes } = await alone(() => bundleServer(serverFolder));
  const size = `${files} files, ${(bytes / 1e6).toFixed(1)} MB`;
  process.stdout.write(`Bundled ${bundledCommands.join(', ')} into ${shown(serverFolder)}: ${size}.\n`);
};

const bundleProgram = async (): Promise<void> => {
  const { files, bytes } = await alone(() => bundleClient(clientFolder));
  process.stdout.write(
    `Bundled the client into ${shown(clientFolder)}: ${files} files, ${(bytes / 1e3).toFixed(0)} kB.\n`,
  );
};

const options = {
  publication: {
    type: 'string',
    value: 'WHERE',
    default: 'dist',
    help: 'Where the Worker of "cloudflare" finds the publication: a folder, which is deployed with it; r2://BUCKET/PREFIX, where npm run upload puts it; or an address, of which it is then a replica without pages.',
  },
  'public-key': {
    type: 'string',
    value: 'KEY',
    help: 'Accept only generations of that publication that are signed by this key, which its landing document names.',
  },
  name: {
    type: 'string',
    value: 'NAME',
    default: 'debdex',
    environment: 'DEBDEX_WORKER',
    help: 'Name of the Worker, which is part of its address.',
  },
  gateway: {
    type: 'string',
    value: 'WHERE',
    default: 'off',
    environment: 'DEBDEX_EDGE_GATEWAY',
    help: 'Store for the sign-ins of that Worker: object, a Durable Object of its own; hyperdrive:ID, a PostgreSQL database through that Hyperdrive configuration; off, no sign-ins.',
  },
  'base-url': {
    type: 'string',
    value: 'URL',
    help: 'Address at which clients reach that Worker; required for a gateway.',
  },
  data: dataOption,
} as const;

// The Worker follows the publication that is deployed with it by its portions.
const assertFollowable = (folder: string): void => {
  const file = path.join(folder, generationPath.current);
  if (!existsSync(file)) {
    throw new CommandFailure(`There is no publication in ${folder}: build it first, with npm run build -- --portions.`);
  }
  const { portions } = JSON.parse(readFileSync(file, 'utf8')) as Pick<Generation, 'portions'>;
  if (portions === undefined) {
    throw new CommandFailure(
      `${folder} was published without the portions that a Worker follows: build it again, with npm run build -- --portions.`,
    );
  }
};

const bundleWorker = async (values: OptionValues<typeof options>): Promise<void> => {
  const { name, 'public-key': publicKey } = values;
  const publication = readEdgePublication(values.publication);
  if (publication === undefined) {
    throw new UsageError(
      `--publication must be a folder, r2://bucket/prefix, or an address such as https://index.example.org, not "${values.publication}"`,
    );
  }
  // https://developers.cloudflare.com/workers/wrangler/configuration/: the name becomes a label of a host name.
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
    throw new UsageError(`--name must be of small letters, digits and "-", not "${name}"`);
  }
  assertPublicKey(publicKey);
  const gateway = readEdgeGateway(values.gateway, values['base-url']);
  if (typeof gateway === 'string') throw new UsageError(gateway);
  if (publication.kind === 'assets') assertFollowable(publication.folder);
  readUnsafe(values.data);
  const safetyList = safetyFileOf(values.data);
  const input = { publication, publicKey, name, safetyList, gateway };
  const { compressed } = await alone(() => bundleCloudflare(cloudflareFolder, input));
  process.stdout.write(
    `Bundled the function for Cloudflare Workers into ${shown(cloudflareFolder)}: ${(compressed / 1e3).toFixed(0)} kB compressed. ` +
      `Run npx wrangler deploy there; see deploy/cloudflare/README.md.\n`,
  );
};

const bundleHandlers = async (): Promise<void> => {
  const { files, bytes } = await alone(() => bundleFetch(fetchFolder));
  process.stdout.write(
    `Bundled the function for AWS Lambda, Deno and Bun into ${shown(fetchFolder)}: ${files} files, ${(bytes / 1e3).toFixed(0)} kB; ` +
      `see deploy/fetch/README.md.\n`,
  );
};

await runCommand(
  {
    name: 'bundle',
    summary:
      'Writes bundles below "bundle". Without a name it writes the first two:\n' +
      '  pages       the pages, with which a build needs neither Astro nor a writable checkout\n' +
      '  server      the server, which needs nothing but Node: node bundle/server/serve.mjs --help\n' +
      '  client      a package for programs that use a service\n' +
      '  cloudflare  the function for Cloudflare Workers\n' +
      '  fetch       the function for AWS Lambda, Deno and Bun',
    operand: '[pages|server|client|cloudflare|fetch]',
    options,
    endings: aloneEndings('could not be bundled', 'another one is bundling'),
  },
  async (values, which) => {
    const ofWorker = which === 'cloudflare' ? undefined : findTyped(Object.keys(options));
    if (ofWorker !== undefined) throw new UsageError(`${ofWorker} goes with cloudflare: npm run bundle -- cloudflare`);
    const others = { client: bundleProgram, cloudflare: () => bundleWorker(values), fetch: bundleHandlers };
    if (which !== undefined && Object.hasOwn(others, which)) return others[which as keyof typeof others]();
    if (which !== undefined && which !== 'pages' && which !== 'server') {
      throw new UsageError(`bundle knows pages, server, client, cloudflare and fetch, not "${which}"`);
    }
    if (which !== 'server') await bundlePages();
    if (which !== 'pages') await bundleCommands();
  },
);
