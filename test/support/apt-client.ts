import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Whether this machine has apt, and the program that it verifies signatures with. */
export const hasApt = ['apt-get', 'gpgv'].every((name) => spawnSync(name, ['--version']).status === 0);

/** A repository, as in `sources.list`. */
export interface AptSource {
  readonly uri: string;
  /** The key that must have signed it. Without one it is trusted unseen, as with `trusted=yes`. */
  readonly key?: string | undefined;
  /** Suite and component; by default the repository is flat. */
  readonly place?: string;
}

// apt names the files of a repository after its address.
const fileNameOf = (uri: string): string => `${uri.replace(/^\w+:\/\//, '').replaceAll('/', '_')}_`;

/** Runs apt for these repositories with a root folder of its own, below `folder`. */
export class AptClient {
  readonly #root: string;
  readonly #sources: readonly AptSource[];
  /** Their lines in `sources.list`. */
  readonly #lines: readonly string[];
  readonly #options: string[];

  constructor(folder: string, sources: readonly AptSource[], architecture = 'iphoneos-arm64') {
    this.#root = mkdtempSync(path.join(folder, 'apt-'));
    this.#sources = sources;
    for (const name of ['etc', 'state/lists/partial', 'cache/archives/partial']) {
      mkdirSync(path.join(this.#root, name), { recursive: true });
    }
    writeFileSync(this.#path('status'), '');
    this.#lines = sources.map(({ uri, key, place = './' }, index) => {
      const file = this.#path(`etc/key-${index}.asc`);
      if (key !== undefined) writeFileSync(file, key);
      const trust = key === undefined ? 'trusted=yes' : `signed-by=${file}`;
      return `deb [${trust} arch=${architecture}] ${uri} ${place}\n`;
    });
    const settings = {
      Dir: this.#root,
      'Dir::Etc': this.#path('etc'),
      'Dir::Etc::sourcelist': this.#path('etc/sources.list'),
      'Dir::Etc::sourceparts': '-',
      'Dir::Etc::main': '-',
      'Dir::Etc::parts': '-',
      'Dir::State': this.#path('state'),
      'Dir::State::status': this.#path('status'),
      'Dir::Cache': this.#path('cache'),
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
      'APT::Sandbox::User': 'root',
      // A container may set these differently.
      'Dir::Cache::pkgcache': 'pkgcache.bin',
      'Dir::Cache::srcpkgcache': 'srcpkgcache.bin',
      'Acquire::Check-Date': 'true',
      'Acquire::Check-Valid-Until': 'true',
      'Acquire::GzipIndexes': 'false',
      'Acquire::Languages': 'none',
      'Acquire::Retries': '0',
      // With pipelining, apt may mistake the answer of one repository for that of another.
      'Acquire::http::Pipeline-Depth': '0',
      'Acquire::http::Proxy': 'DIRECT',
      'Acquire::http::Timeout': '3',
    };
    this.#options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  }

  /**
   * Updates the sources at these places, by default all. Returns apt's output, and how many packages each repository has
   * afterwards, in the order of the sources; null if it has none.
   */
  async update(places?: readonly number[]): Promise<{ packages: (number | null)[]; text: string }> {
    const lines = this.#lines.filter((_, place) => places?.includes(place) ?? true);
    writeFileSync(this.#path('etc/sources.list'), lines.join(''));
    const child = spawn('apt-get', ['update', ...this.#options], { env: { ...process.env, LC_ALL: 'C' } });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk;
      });
    }
    await new Promise((resolve) => child.on('close', resolve));
    return { packages: this.count(), text };
  }

  /** How many packages each repository has, in the order of the sources; null if it has none. */
  count(): (number | null)[] {
    const lists = this.#path('state/lists');
    const indexes = readdirSync(lists).filter((name) => name.endsWith('_Packages'));
    const count = (index: string): number =>
      readFileSync(path.join(lists, index), 'utf8').match(/^Package:/gm)?.length ?? 0;
    return this.#sources.map(({ uri }) => {
      const own = indexes.filter((name) => name.startsWith(fileNameOf(uri)));
      return own.length === 0 ? null : own.reduce((sum, index) => sum + count(index), 0);
    });
  }

  /** Gives the source at one place what apt has of that at another, as if it had taken the same from there. */
  adopt(place: number, from: number): void {
    const [own, other] = [place, from].map((one) => fileNameOf(this.#sources[one]?.uri ?? '')) as [string, string];
    const lists = this.#path('state/lists');
    for (const name of readdirSync(lists).filter((known) => known.startsWith(other))) {
      const options = { preserveTimestamps: true };
      cpSync(path.join(lists, name), path.join(lists, own + name.slice(other.length)), options);
    }
  }

  /**
   * What apt would install with these packages if nothing was installed yet: names and versions; undefined if it
   * refuses. Recommends are left out.
   */
  async simulate(...names: string[]): Promise<Set<string> | undefined> {
    const child = spawn(
      'apt-get',
      ['install', '-s', '-o', 'APT::Install-Recommends=false', ...this.#options, ...names],
      {
        env: { ...process.env, LC_ALL: 'C' },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    const [status] = await once(child, 'close');
    if (status !== 0) return undefined;
    return new Set([...text.matchAll(/^Inst (\S+) \((\S+)/gm)].map(([, one, version]) => `${one} ${version}`));
  }

  /** Puts an index where apt keeps downloaded ones, and lets it build its cache. */
  async take(index: string): Promise<void> {
    copyFileSync(index, this.#path(path.join('state/lists', path.basename(index))));
    await once(spawn('apt-cache', ['gencaches', ...this.#options], { stdio: 'ignore' }), 'close');
  }

  /** The text of an index that apt keeps, in any compression. */
  async read(index: string): Promise<string> {
    const child = spawn('/usr/lib/apt/apt-helper', ['cat-file', index], { stdio: ['ignore', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    await once(child, 'close');
    return Buffer.concat(chunks).toString();
  }

  #path(name: string): string {
    return path.join(this.#root, name);
  }
}
