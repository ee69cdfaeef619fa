// Loaded before the commands (`node --import`). It is JavaScript and uses nothing recent, so that even an old release
// of Node can read it.

import { readFileSync } from 'node:fs';
import module from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const project = new URL('..', import.meta.url);

// The oldest release that can run everything (`engines`), in the form ">=24".
const { engines } = JSON.parse(readFileSync(new URL('package.json', project), 'utf8'));
const oldest = Number(/^>=(\d+)$/.exec(engines.node)?.[1]);
const { node } = process.versions;
if (!(Number.parseInt(node, 10) >= oldest)) {
  // Otherwise the first message would be about a file with an unknown extension.
  process.stderr.write(
    `Debdex needs Node.js ${oldest} or newer, and this is ${node}: "npm ci" brings one for "npm start" and "npm run …", ` +
      'or install a newer one (https://nodejs.org).\n',
  );
  process.exit(1);
}

// Compiling takes more than half of a command's start, so compiled code is kept beside the packages. If that folder
// cannot be written, nothing is kept.
module.enableCompileCache(fileURLToPath(new URL('node_modules/.cache/compiled', project)));

// Node writes the cache when it exits, which a killed server never does.
if (isMainThread) setTimeout(module.flushCompileCache, 2000).unref();
