import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { decompress } from '../../src/apt/decompress.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { openStore } from '../../src/snapshots/store.ts';

// The least that any builder has to do with an index: parse it, make JSON of it, write a file for each package and one
// for all. No check, no catalog, no search index, nothing kept; what a real build adds is measured against it.
const [state = '', slug = '', out = ''] = process.argv.slice(2);
const store = openStore(state);
const snapshot = await store.read(slug);
if (snapshot === undefined) throw new Error(`there is no snapshot of ${slug}`);
const limits = { maxBytes: Number.MAX_SAFE_INTEGER, maxRatio: Number.POSITIVE_INFINITY };
const pieces: Uint8Array[] = [];
const bytes = await store.readFile(slug, snapshot.packages);
for await (const piece of decompress([bytes], snapshot.packages.compression, limits)) pieces.push(piece);

const packages = new Map<string, Record<string, string>[]>();
for (const stanza of Buffer.concat(pieces).toString().split(/\n\n+/)) {
  const record: Record<string, string> = {};
  let field = '';
  for (const line of stanza.split('\n')) {
    const colon = line.indexOf(':');
    if (line.startsWith(' ')) record[field] += `\n${line.slice(1)}`;
    else if (colon > 0) {
      field = line.slice(0, colon);
      record[field] = line.slice(colon + 1).trim();
    }
  }
  const name = record.Package;
  if (name === undefined) continue;
  const known = packages.get(name);
  if (known === undefined) packages.set(name, [record]);
  else known.push(record);
}

const made = new Set<string>();
const write = (document: string, data: readonly object[]) => {
  const file = path.join(out, document);
  const folder = path.dirname(file);
  if (!made.has(folder)) mkdirSync(folder, { recursive: true });
  made.add(folder);
  writeFileSync(file, JSON.stringify({ message: '200 Successful', count: data.length, data }));
};
for (const [name, records] of packages) write(documentPath.package(name), records);
write(documentPath.repositoryPackages(slug), [...packages.values()].flat());
