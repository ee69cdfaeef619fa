import path from 'node:path';
import { makeBundle, productFolder } from '../src/site/bundle.ts';
import { bundleClient, clientFolder } from './bundling/bundle-client.ts';
import { bundledCommands, bundleServer, serverFolder } from './bundling/bundle-server.ts';
import { runCommand, UsageError } from './options.ts';

const shown = (folder: string): string => path.relative(process.cwd(), folder);

const bundlePages = async (): Promise<void> => {
  const made = await makeBundle(productFolder);
  const folder = shown(productFolder);
  process.stdout.write(made ? `Bundled the pages into ${folder}.\n` : `${folder} is up to date.\n`);
};

const bundleCommands = async (): Promise<void> => {
  const { files, bytes } = await bundleServer(serverFolder);
  const size = `${files} files, ${(bytes / 1e6).toFixed(1)} MB`;
  process.stdout.write(`Bundled ${bundledCommands.join(', ')} into ${shown(serverFolder)}: ${size}.\n`);
};

const bundleProgram = async (): Promise<void> => {
  const { files, bytes } = await bundleClient(clientFolder);
  process.stdout.write(
    `Bundled the client into ${shown(clientFolder)}: ${files} files, ${(bytes / 1e3).toFixed(0)} kB.\n`,
  );
};

await runCommand(
  {
    name: 'bundle',
    summary:
      'Bundles, into "bundle": "pages", with which a build needs neither Astro nor a checkout that can be written; and\n' +
      '"server", which serves with nothing but Node: node bundle/server/serve.mjs --help. One of the two where it is named;\n' +
      'and "client", a package for programs that ask a service, where that is named.',
    operand: '[pages|server|client]',
    options: {},
  },
  async (_, which) => {
    if (which !== undefined && which !== 'pages' && which !== 'server' && which !== 'client') {
      throw new UsageError(`bundle knows pages, server and client, not "${which}"`);
    }
    if (which === 'client') return bundleProgram();
    if (which !== 'server') await bundlePages();
    if (which !== 'pages') await bundleCommands();
  },
);
