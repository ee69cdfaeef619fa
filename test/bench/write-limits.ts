import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** How often a second the disk below `folder` durably writes a page of 4 KiB: the limit of single commits. */
export const measureSyncRate = (folder: string, seconds: number): number => {
  const file = join(folder, 'sync-rate');
  const descriptor = openSync(file, 'w');
  const page = Buffer.alloc(4096, 1);
  const start = performance.now();
  let count = 0;
  while (performance.now() - start < seconds * 1000) {
    writeSync(descriptor, page);
    fdatasyncSync(descriptor);
    count++;
  }
  const rate = count / ((performance.now() - start) / 1000);
  closeSync(descriptor);
  rmSync(file);
  return rate;
};

/** How many plain updates of one row each, as in pgbench, the PostgreSQL server commits a second. */
export const measureUpdateRate = async (
  url: string,
  { connections, seconds, rows }: { connections: number; seconds: number; rows: number },
): Promise<number> => {
  const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  await clients[0]?.query('create table bare (id int primary key, n int not null)');
  await clients[0]?.query('insert into bare select i, 0 from generate_series(1, $1::int) i', [rows]);
  const start = performance.now();
  let count = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - start < seconds * 1000) {
        const id = 1 + Math.floor(Math.random() * rows);
        await client.query({ name: 'bare', text: 'update bare set n = n + 1 where id = $1', values: [id] });
        count++;
      }
    }),
  );
  const rate = count / ((performance.now() - start) / 1000);
  await Promise.all(clients.map((client) => client.end()));
  return rate;
};
