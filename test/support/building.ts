import { type ChildProcess, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { generationPath, generationSchema, tellsOfGenerations } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { packageAddress } from '../../src/results/package-address.ts';
import { noAttempts } from '../../src/snapshots/snapshot.ts';
import { openStore } from '../../src/snapshots/store.ts';
import { temporaryFolder } from './folder.ts';
import { readInventoryOf } from './inventory.ts';
import { runScript } from './run-script.ts';
import { findSiteDamage } from './site-damage.ts';

const project = path.join(import.meta.dirname, '..', '..');
const base = 'https://index.test';
/** The clock of all builds of a bench. It does not move. */
export const benchClock = { SOURCE_DATE_EPOCH: '1780000000' };
const benchNow = new Date(Number(benchClock.SOURCE_DATE_EPOCH) * 1000);

/** A repository in the manifest of a build. */
interface BuiltRepository {
  readonly slug: string;
  readonly uri: string;
  readonly aliases?: readonly string[];
}

/** The result of a build. */
interface BuildEnd {
  readonly status: number | null;
  readonly text: string;
}

/** Builds into folders of its own, with a clock that does not move. */
export class BuildBench {
  readonly folder: string;
  /** A test may set another one to build the same from another state. */
  state: string;
  readonly out: string;
  readonly #manifest: string;
  /** Whether to build the site. A test may change it for the following builds. */
  site: boolean;

  /** By default builds leave out the site and use a folder that is removed after the test. */
  constructor({ site = false, folder = temporaryFolder() } = {}) {
    this.folder = folder;
    this.state = path.join(folder, 'state');
    this.out = path.join(folder, 'dist');
    this.#manifest = path.join(folder, 'manifest.json');
    this.site = site;
  }

  /** Sets the repositories of the following builds. */
  list(repositories: readonly BuiltRepository[]): void {
    writeFileSync(this.#manifest, JSON.stringify(repositories.map((one) => ({ ...one, ranking: 3 }))));
  }

  /** The flags that name the manifest and the folders. */
  get flags(): string[] {
    const folders = ['--state', this.state, '--out', this.out];
    return ['--manifest', this.#manifest, ...folders, '--base-url', base, '--allow-private-networks'];
  }

  get #parameters(): string[] {
    return [...this.flags, ...(this.site ? [] : ['--no-site'])];
  }

  /** Starts a build in a process of its own, below a shell command that may set limits or variables first. */
  start(limits = ''): ChildProcess {
    const command = [process.execPath, 'scripts/build.ts', ...this.#parameters];
    return spawn('sh', ['-c', `${limits} exec "$@"`, 'sh', ...command], {
      cwd: project,
      env: { ...process.env, ...benchClock },
    });
  }

  /** Builds in this process, with these environment variables (`NAME=value`, each followed by a blank). */
  async build(variables = ''): Promise<BuildEnd> {
    const pairs =
      variables.trim() === ''
        ? []
        : variables
            .trim()
            .split(' ')
            .map((pair) => pair.split('='));
    return runScript('build', this.#parameters, { environment: { ...benchClock, ...Object.fromEntries(pairs) } });
  }

  /** Waits for the end of a build that was started; returns its result and output. */
  end(child: ChildProcess): Promise<BuildEnd> {
    return waitFor(child);
  }

  /**
   * Starts a build and kills it after this many milliseconds, counted from when `hasBegun` returns true, by default
   * from when it begins to publish the site. Returns whether it was still running.
   */
  async buildAndKill(milliseconds: number, hasBegun = this.#publishesSite()): Promise<boolean> {
    const child = this.start();
    child.stdout?.resume();
    child.stderr?.resume();
    // Not its close event, which waits for the processes that it started.
    const end = once(child, 'exit');
    while (child.exitCode === null && !hasBegun()) await sleep(2);
    await Promise.race([sleep(milliseconds), end]);
    const isAlive = child.exitCode === null;
    child.kill('SIGKILL');
    await end;
    return isAlive;
  }

  /** Returns a function that says whether a build has begun, since this call, to publish documents. */
  publishesDocuments(): () => boolean {
    const folder = path.dirname(path.join(this.out, documentPath.package('any')));
    const timeOf = () => statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
    const before = timeOf();
    return () => timeOf() !== before;
  }

  #publishesSite(): () => boolean {
    const before = this.#siteTime();
    return () => this.#siteTime() !== before;
  }

  // The search index is the first part of the site that is published.
  #siteTime(): number | undefined {
    return statSync(path.join(this.out, 'search-index', 'rows'), { throwIfNoEntry: false })?.mtimeMs;
  }

  /** Every published document, except those about generations and builds: path below the output folder → text. */
  read(): Map<string, string> {
    const published = this.#paths().filter(
      (file) => file.startsWith('v2') && !tellsOfGenerations(file) && file !== documentPath.status,
    );
    return new Map(published.map((file) => [file, readFileSync(path.join(this.out, file), 'utf8')]));
  }

  /**
   * The files of the site: path below the output folder → digest of the content. Left out is what depends on earlier
   * builds: the status page, and what disappeared from repositories, which the change lists of the output folder
   * remember.
   */
  readSite(): Map<string, string> {
    const differing = /^(?:v2|status|\.debdex)\//;
    const vanished = /<div id="vanished".*?<\/div>/s;
    const paths = this.#paths().filter((file) => !differing.test(file));
    const read = (file: string) => readFileSync(path.join(this.out, file), 'latin1').replace(vanished, '');
    return new Map(paths.map((file) => [file, hash('sha256', read(file))]));
  }

  /** Everything in the output folder except the marks of its owner: path below it → digest of the content. */
  digests(): Map<string, string> {
    const published = this.#paths().filter((file) => !file.startsWith('.debdex/'));
    return new Map(published.map((file) => [file, hash('sha256', readFileSync(path.join(this.out, file)))]));
  }

  #paths(): string[] {
    const entries = readdirSync(this.out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return entries.map((entry) => path.relative(this.out, path.join(entry.parentPath, entry.name))).sort();
  }

  /**
   * What is broken: documents that cannot be parsed, and files that documents, pages or the catalog name but that do
   * not exist.
   */
  findDamage(): string[] {
    const damage: string[] = [];
    const files = this.read();
    for (const [file, text] of files) {
      if (!file.endsWith('.json') || file === documentPath.openapiJson) continue;
      try {
        for (const address of findReferences(JSON.parse(text))) {
          const target = fileOf(address);
          if (!files.has(target)) damage.push(`${file} names ${target}`);
        }
      } catch {
        damage.push(`${file} cannot be parsed`);
      }
    }
    const ofSite = findSiteDamage(this.out, base);
    return [...damage, ...this.#findCatalogDamage(files), ...this.#findGenerationDamage(), ...ofSite];
  }

  // Between a kill and the next build, documents may be newer than the generation says, but all that it names must
  // exist.
  #findGenerationDamage(): string[] {
    const file = path.join(this.out, generationPath.current);
    if (!existsSync(file)) return [];
    const { catalog, changes, documents } = generationSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    const { inventory, differences = inventory } = documents;
    const named = [catalog.path, changes, inventory, differences, ...readInventoryOf(this.out, documents).keys()];
    const missing = named.filter((name) => !existsSync(path.join(this.out, name)));
    return missing.map((name) => `the generation names ${name}`);
  }

  /**
   * After a completed build: files whose bytes differ from what the generation in force says, that it does not list, or
   * that it lists and that are missing.
   */
  findUntold(): string[] {
    const text = readFileSync(path.join(this.out, generationPath.current), 'utf8');
    const told = readInventoryOf(this.out, generationSchema.parse(JSON.parse(text)).documents);
    const present = this.#paths().filter((file) => !tellsOfGenerations(file) && !file.startsWith('.'));
    const differing = present.filter(
      (file) => told.get(file) !== hash('sha256', readFileSync(path.join(this.out, file))),
    );
    return [...differing, ...[...told.keys()].filter((file) => !present.includes(file))];
  }

  #findCatalogDamage(files: ReadonlyMap<string, string>): string[] {
    if (!existsSync(catalogPath(this.state))) return [];
    const database = new DatabaseSync(catalogPath(this.state), { readOnly: true });
    try {
      const { integrity_check: check } = database.prepare('PRAGMA integrity_check').get() as {
        integrity_check: string;
      };
      const named = [
        ...database
          .prepare('SELECT package FROM record')
          .all()
          .map((row) => documentPath.package(row.package as string)),
        ...database
          .prepare('SELECT slug FROM repository')
          .all()
          .map((row) => documentPath.repository(row.slug as string)),
      ];
      const found = this.site
        ? database
            .prepare('SELECT DISTINCT package FROM record')
            .all()
            .map((row) => packageAddress(row.package as string))
        : [];
      const missing = [
        ...named.filter((file) => !files.has(file)).map((file) => `the catalog names ${file}`),
        ...found
          .filter((page) => !existsSync(path.join(this.out, page, 'index.html')))
          .map((page) => `search names ${page}`),
      ];
      return check === 'ok' ? missing : [check, ...missing];
    } finally {
      database.close();
    }
  }
}

/**
 * Marks a repository as unreachable three times, so that the following builds leave it alone and need not wait for it.
 */
export const leaveAlone = async (state: string, slug: string, now = benchNow): Promise<void> => {
  // A time that is near enough to be accepted.
  const inHours = (hours: number) => new Date(now.getTime() + hours * 3_600_000).toISOString();
  const [failedAt, notBefore] = [inHours(-1), inHours(1)];
  const told = { failures: 3, failedAt, code: 'connection', reason: 'The origin did not answer.', notBefore } as const;
  await openStore(state).writeAttempts(slug, { ...noAttempts, ...told });
};

/** Every API address below a `refs` in a document. */
const findReferences = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(findReferences);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === 'refs' ? (Object.values(child as object) as string[]) : findReferences(child),
  );
};

/** The file that answers an address. */
const fileOf = (address: string): string => `${decodeURIComponent(new URL(address, base).pathname).slice(1)}.json`;

const waitFor = async (child: ChildProcess): Promise<BuildEnd> => {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += chunk;
    });
  }
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, text };
};
