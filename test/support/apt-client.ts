import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './folder.ts';

/** Whether this machine has apt itself, and what verifies its signatures. */
export const hasApt = ['apt-get', 'gpgv'].every((name) => spawnSync(name, ['--version']).status === 0);

/** apt with a root folder of its own, for one repository. */
export class AptClient {
  readonly #root = temporaryFolder();
  readonly #options: string[];

  /** With `key`, the repository must be signed by it; without, it is taken as it is, as `trusted=yes` has it. `place`: suite and component. */
  constructor(uri: string, key: string | undefined, place = './') {
    for (const folder of ['etc', 'state/lists/partial', 'cache/archives/partial']) {
      mkdirSync(path.join(this.#root, folder), { recursive: true });
    }
    writeFileSync(this.#path('status'), '');
    if (key !== undefined) writeFileSync(this.#path('etc/key.asc'), key);
    const trust = key === undefined ? 'trusted=yes' : `signed-by=${this.#path('etc/key.asc')}`;
    writeFileSync(this.#path('etc/sources.list'), `deb [${trust} arch=iphoneos-arm64] ${uri} ${place}\n`);
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
      'APT::Architecture': 'iphoneos-arm64',
      'APT::Sandbox::User': 'root',
      // A container's own settings may say otherwise.
      'Acquire::GzipIndexes': 'false',
      'Acquire::Languages': 'none',
      'Acquire::Retries': '0',
      'Acquire::http::Proxy': 'DIRECT',
      'Acquire::http::Timeout': '3',
    };
    this.#options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  }

  /** Updates, and returns what apt said and how many packages of the repository are in force then; null for none. */
  async update(): Promise<{ packages: number | null; text: string }> {
    const child = spawn('apt-get', ['update', ...this.#options], { env: { ...process.env, LC_ALL: 'C' } });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += chunk;
      });
    }
    await new Promise((resolve) => child.on('close', resolve));
    const lists = this.#path('state/lists');
    const indexes = readdirSync(lists).filter((name) => name.endsWith('_Packages'));
    const counts = indexes.map(
      (index) => readFileSync(path.join(lists, index), 'utf8').match(/^Package:/gm)?.length ?? 0,
    );
    return { packages: counts.length === 0 ? null : counts.reduce((sum, count) => sum + count), text };
  }

  #path(name: string): string {
    return path.join(this.#root, name);
  }
}
