import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { decompress } from '../../src/apt/decompress.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { openStore } from '../../src/snapshots/store.ts';

// The least work that any builder has with an index: parse it, turn it into JSON, write a file for each package and one
// for all and, on request, index their words in the same kind of index. It checks and keeps nothing. It shows how much
// a real build adds.
const [state = '', slug = '', out = '', indexFile] = process.argv.slice(2);
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

if (indexFile !== undefined) {
  const database = new DatabaseSync(indexFile);
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
    CREATE VIRTUAL TABLE search USING fts5 (identifier, author, description,
      content = '', contentless_delete = 1, detail = column, prefix = '1 2 3 4 5 6 7 8', tokenize = "ascii")`);
  const insert = database.prepare('INSERT INTO search (rowid, identifier, author, description) VALUES (?, ?, ?, ?)');
  let row = 0;
  for (const [name, [record]] of packages) {
    insert.run(++row, name.toLowerCase(), record?.Maintainer ?? '', record?.Description ?? '');
  }
  database.exec("INSERT INTO search (search) VALUES ('optimize'); COMMIT");
  database.close();
}
