// Loaded ahead of the commands (`node --import`). It is JavaScript, and names nothing that came late to Node: whatever
// release it meets can read it.

import { readFileSync } from 'node:fs';
import module from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const project = new URL('..', import.meta.url);

// The oldest release that runs everything (`engines`), of the form ">=24".
const { engines } = JSON.parse(readFileSync(new URL('package.json', project), 'utf8'));
const oldest = Number(/^>=(\d+)$/.exec(engines.node)?.[1]);
const { node } = process.versions;
if (!(Number.parseInt(node, 10) >= oldest)) {
  // Without this the first words would be of a file with an unknown extension.
  process.stderr.write(
    `Debdex needs Node.js ${oldest} or newer, and this is ${node}: "npm ci" brings one for "npm start" and "npm run …", ` +
      'or install a newer one (https://nodejs.org).\n',
  );
  process.exit(1);
}

// Compiling is more than half of the time in which the commands start, so what was compiled once is kept, beside the
// packages it belongs to. Where that folder cannot be written nothing is kept.
module.enableCompileCache(fileURLToPath(new URL('node_modules/.cache/compiled', project)));

// Node writes it at its exit, which a server that is killed never reaches.
if (isMainThread) setTimeout(module.flushCompileCache, 2000).unref();
