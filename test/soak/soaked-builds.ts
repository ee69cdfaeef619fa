import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { npmScript, project } from '../bench/processes.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { OriginServer } from '../support/origin-server.ts';
import { serveRound } from '../support/rounds.ts';
import { startLast } from './priorities.ts';
import type { Known } from './visitor.ts';

const stableName = 'stable';
/** What several of at once make an answer of megabytes; honest clients do not ask for them. */
const bulkName = 'bulk';
const bulkDescription = 'Nobody reads all of this. '.repeat(1200);

/** How much there is in an index. */
export interface IndexSize {
  /** Packages that are always there. */
  readonly stable: number;
  /** Packages of which abusers ask for all at once: 32 kB each. */
  readonly bulk: number;
  /** Repositories that come and go. */
  readonly passing: number;
}

const usualSize: IndexSize = { stable: 60, bulk: 75, passing: 10 };
const passingPackages = 4;

// With it, the list of the stable repository is larger than what a server holds in memory.
const listLength = 504_000;
const told = 'This is told at length. ';
const longDescription = (packages: number): string => told.repeat(listLength / told.length / packages);

const bulkPackage = (index: number): string => `org.bulk.heap${index}`;

/** Builds of an index that changes: an origin whose repositories come and go, and one that stays. */
export class Builds {
  readonly state: string;
  readonly out: string;
  readonly known: Known;
  /** The path of an answer of all that is bulky. */
  readonly largePath: string;
  readonly #size: IndexSize;
  readonly #manifest: string;
  readonly #origin: OriginServer;
  #round = 0;
  #child: ReturnType<typeof spawn> | undefined;
  /** How long each build took, in seconds. */
  readonly seconds: number[] = [];
  /** Files below state and output after each build, without compressed copies, which have a bound of their own. */
  readonly files: number[] = [];

  private constructor(folder: string, origin: OriginServer, size: IndexSize) {
    this.state = path.join(folder, 'state');
    this.out = path.join(folder, 'dist');
    this.#manifest = path.join(folder, 'manifest.json');
    this.#origin = origin;
    this.#size = size;
    const bulk = Array.from({ length: size.bulk }, (_, index) => bulkPackage(index));
    this.largePath = `/v2/jailbreak/package/multi?ids=${bulk.join(',')}`;
    const numbers = Array.from({ length: size.passing }, (_, number) => number);
    this.known = {
      stableRepository: stableName,
      stablePackages: makePackages(size.stable, stableName).map((fields) => fields.Package ?? ''),
      passingRepositories: numbers.map((number) => `r${number}`),
      passingPackages: numbers.flatMap((number) =>
        makePackages(1.5 * passingPackages, `${number % 4}-${number % 3}.`).map((fields) => fields.Package ?? ''),
      ),
    };
  }

  /** Starts the origin; builds go into folders below this one. */
  static async start(folder: string, size = usualSize): Promise<Builds> {
    const origin = await OriginServer.start();
    const packages = makePackages(size.stable, stableName).map((fields) => ({
      ...fields,
      Description: `${fields.Description}\n ${longDescription(size.stable)}`,
    }));
    origin.serve(stableName, await generateRepository({ packages, compressions: ['gz'] }));
    const bulk = makePackages(size.bulk, bulkName).map((fields, index) => ({
      ...fields,
      Package: bulkPackage(index),
      Name: `Heap ${index}`,
      Maintainer: 'Nobody <nobody@bulk.test>',
      Description: `A heap\n ${bulkDescription}`,
    }));
    origin.serve(bulkName, await generateRepository({ packages: bulk, compressions: ['gz'] }));
    return new Builds(folder, origin, size);
  }

  /** Changes what the repositories hold and builds, with the site. Throws with what the build said where it fails. */
  async next(): Promise<void> {
    const passing = await serveRound(this.#origin, this.#round++, {
      repositories: this.#size.passing,
      packages: passingPackages,
    });
    const lasting = [stableName, bulkName].map((slug) => ({ slug, uri: this.#origin.uri(slug) }));
    const repositories = [...lasting, ...passing];
    writeFileSync(this.#manifest, JSON.stringify(repositories.map((one) => ({ ...one, ranking: 3 }))));
    const begun = performance.now();
    await this.#build();
    this.seconds.push((performance.now() - begun) / 1000);
    this.files.push(listFiles(this.state).length + listFiles(this.out).length);
    this.#origin.reset();
  }

  async #build(): Promise<void> {
    const flags = ['--manifest', this.#manifest, '--state', this.state, '--out', this.out, '--allow-private-networks'];
    const args = [...npmScript('build'), ...flags, '--base-url', 'https://index.test'];
    const child = startLast(() =>
      spawn(process.execPath, args, { cwd: project, stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
    );
    this.#child = child;
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        said += piece;
      });
    }
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    this.#child = undefined;
    if (code !== 0) throw new Error(`a build ended with ${code}: ${said}`);
  }

  /**
   * Builds one after the other, with a short rest in between, until the signal or until it was built so often; what goes
   * wrong is told.
   */
  async repeat(signal: AbortSignal, most: number, onFailure: (error: unknown) => void): Promise<void> {
    while (!signal.aborted && this.seconds.length < most) {
      await this.next().catch(onFailure);
      await sleep(500);
    }
  }

  /** The files that a build or a server should have removed and left behind, below state and output. */
  findLeftovers(): string[] {
    return [this.state, this.out].flatMap((folder) =>
      listFiles(folder).filter((file) => isTemporary(path.relative(folder, file))),
    );
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    this.kill();
    await this.#origin.stop();
  }
}

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith(`${path.sep}compressed`))
    .map((entry) => path.join(entry.parentPath, entry.name));

// How the names of what is written aside begin and end: by the catalog, the documents, the snapshots and the site.
const isTemporary = (file: string): boolean =>
  /(?:^|[\\/])(?:\.staging[\\/]|tmp-|publishing$)|\.(?:next|part|next\.sqlite|sqlite-journal)$/.test(file);
