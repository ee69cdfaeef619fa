import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { CommandFailure } from '../options.ts';
import { readVersion } from '../read-version.ts';
import { type BundledSize, measureFolder } from './bundled-folder.ts';

const project = path.join(import.meta.dirname, '..', '..');
const source = path.join(project, 'clients', 'typescript');
const usualCompiler = path.join(project, 'node_modules', '@typescript', 'native', 'bin', 'tsc');

/** Where `npm run bundle` writes the client. */
export const clientFolder = path.join(project, 'bundle', 'client');

/** The client as one module for browsers and Node, without imports. */
export const bundleModule = async (): Promise<string> => {
  await using bundle = await rolldown({
    input: path.join(source, 'src', 'index.ts'),
    platform: 'neutral',
    logLevel: 'warn',
  });
  const { output } = await bundle.generate({ format: 'esm' });
  return output[0].code;
};

/**
 * Bundles the client into a folder that is a package: one module, its declarations, and a package.json. Resolves to the
 * number of files and of their bytes. Throws a CommandFailure, and leaves the folder as it is, if the compiler is not
 * installed, and another error if the module cannot be bundled or the declarations cannot be made.
 */
export const bundleClient = async (folder: string, compiler: string = usualCompiler): Promise<BundledSize> => {
  if (!existsSync(compiler)) {
    throw new CommandFailure(
      'TypeScript, which makes the declarations of the client, is not installed here: install the development packages too, with npm ci, and bundle again.',
    );
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'client.mjs'), await bundleModule());
  const types = path.join(folder, 'types');
  execFileSync(process.execPath, [compiler, '-p', source, '--outDir', types], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const name of readdirSync(types)) {
    const file = path.join(types, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
  const described = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as object;
  writeFileSync(
    path.join(folder, 'package.json'),
    `${JSON.stringify({ ...described, version: readVersion(), exports: { '.': { types: './types/index.d.ts', default: './client.mjs' } } }, null, 2)}\n`,
  );
  copyFileSync(path.join(source, 'README.md'), path.join(folder, 'README.md'));
  copyFileSync(path.join(project, 'LICENSE'), path.join(folder, 'LICENSE'));
  return measureFolder(folder);
};
