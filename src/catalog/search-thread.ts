import { parentPort, workerData } from 'node:worker_threads';
import { CatalogFile } from './node-sqlite.ts';
import type { SearchTask } from './search-aside.ts';
import { searchTables } from './search-index.ts';
import { SearchWriter } from './search-writer.ts';

// The thread of SearchAside: does each task that it receives, and answers when it is done.
const database = CatalogFile.openDraft((workerData as { file: string }).file);
// It writes sequentially, and reads everything once.
database.exec('PRAGMA cache_size = -8192');
database.exec(searchTables);
// Segments are merged once at the end rather than repeatedly, which saves a fifth of the time. No more segments than
// these may accumulate (the limit is 2,000).
for (const [option, value] of [
  ['automerge', 0],
  ['crisismerge', 1000],
  ['hashsize', 2 ** 22],
] as const) {
  database.exec(`INSERT INTO search (search, rank) VALUES ('${option}', ${value})`);
}
database.exec('BEGIN');
const writer = new SearchWriter(database);

const perform = (task: SearchTask): void => {
  if (task === 'repository') writer.beginRepository();
  else if (task !== 'end') void writer.take(task);
  else {
    writer.finish();
    database.exec('COMMIT');
    database.close();
  }
};

parentPort?.on('message', (task: SearchTask) => {
  perform(task);
  parentPort?.postMessage(true);
});
