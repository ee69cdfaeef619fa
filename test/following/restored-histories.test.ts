import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Change, ChangesLost, Client } from '../../clients/typescript/src/index.ts';
import type { PackageChange } from '../../src/contract/generation.ts';
import { mirror } from '../../src/following/mirror.ts';
import { PublicationSource, SourceError } from '../../src/following/source.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { UploadError } from '../../src/uploading/upload-error.ts';
import { FileOrigin } from '../support/built-publication.ts';
import { temporaryFolder } from '../support/folder.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { Publication } from '../support/publication.ts';
import { folderTarget, send } from '../support/uploading.ts';

const ids = ['a', 'b', 'c', 'd'] as const;
const places = ['publication', 'mirror', 'mirror of it', 'uploaded'] as const;
type Place = (typeof places)[number];
/** A package that is published, or no longer, as `change` says; or what else is done. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('publish' as const), id: fc.constantFrom(...ids), isGone: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('copy' as const), to: fc.constantFrom(...places) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('follow' as const), at: fc.constantFrom(...places) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('back up' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('restore' as const), what: fc.constantFrom('out', 'state', 'both') }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

type Packages = Readonly<Record<string, string>>;
const stateFile = 'v2/packages.json';
const readPackages = (folder: string): Packages =>
  existsSync(path.join(folder, stateFile)) ? JSON.parse(readFileSync(path.join(folder, stateFile), 'utf8')) : {};

const compare = (before: Packages, now: Packages): PackageChange[] =>
  ids.flatMap((id): PackageChange[] => {
    const [version = null, previous = null] = [now[id], before[id]];
    if (version === previous) return [];
    const change = version === null ? 'removed' : previous === null ? 'added' : 'updated';
    return [{ package_id: id, repository: 'one', change, version, previous_version: previous }];
  });

/** Whoever knows of the packages by their changes, and begins anew where these are lost. */
class Reader {
  #known: { readonly number: number; readonly date: string } | undefined;
  #packages: Packages = {};
  readonly #client: Client;
  readonly #folder: string;

  constructor(address: string, folder: string) {
    this.#client = new Client({ base: address, retries: 0 });
    this.#folder = folder;
  }

  async follow(): Promise<void> {
    const { number, date } = await this.#client.generation();
    const found = await this.#readChanges().catch((error: unknown) => {
      if (error instanceof ChangesLost) return undefined;
      throw error;
    });
    const packages = new Map(Object.entries(this.#packages));
    for (const { package_id: id, version } of found ?? []) {
      if (version === null) packages.delete(id);
      else packages.set(id, version);
    }
    this.#packages = found === undefined ? readPackages(this.#folder) : Object.fromEntries([...packages].sort());
    this.#known = { number, date };
    expect(this.#packages).toEqual(readPackages(this.#folder));
  }

  async #readChanges(): Promise<Change[] | undefined> {
    return this.#known && (await Array.fromAsync(this.#client.changes({ since: this.#known })));
  }
}

const run = async (steps: readonly Step[]): Promise<void> => {
  const publication = new Publication();
  const parent = temporaryFolder();
  const folders: Readonly<Record<Place, string>> = {
    publication: publication.out,
    mirror: path.join(parent, 'mirror'),
    'mirror of it': path.join(parent, 'second'),
    uploaded: path.join(parent, 'uploaded'),
  };
  const origins = new Map<Place, FileOrigin>();
  for (const place of places) origins.set(place, await new FileOrigin(folders[place]).open());
  const addressOf = (place: Place) => origins.get(place)?.address ?? '';
  const readers = new Map(places.map((place) => [place, new Reader(addressOf(place), folders[place])]));
  const fetcher = createFetcher({ allowPrivateNetworks: true });
  const isThere = (place: Place) => existsSync(path.join(folders[place], 'v2/generation.json'));
  const backup = path.join(parent, 'backup');
  let versions = 0;

  const publish = async (id: string, isGone: boolean) => {
    const known = path.join(publication.state, 'packages.json');
    const before: Packages = existsSync(known) ? JSON.parse(readFileSync(known, 'utf8')) : {};
    const { [id]: _, ...others } = before;
    const now: Packages = Object.fromEntries(
      Object.entries(isGone ? others : { ...others, [id]: `${++versions}` }).sort(),
    );
    const files = { [stateFile]: JSON.stringify(now), 'v2/same.json': '' };
    for (const [file, text] of Object.entries(files)) publication.output.write(file, text);
    await publication.publish(files, { isTouched: undefined, packages: compare(before, now) });
    mkdirSync(publication.state, { recursive: true });
    writeFileSync(known, JSON.stringify(now));
  };
  const copyTo = async (place: Place) => {
    const from = place === 'mirror of it' ? 'mirror' : 'publication';
    if (place === 'publication' || !isThere(from)) return;
    try {
      if (place === 'uploaded') await send(folders[from], folderTarget(folders[place]));
      else await mirror({ source: new PublicationSource(addressOf(from), fetcher), folder: folders[place] });
    } catch (error) {
      if (!/older than the generation|newer than the generation/.test(String(error))) throw error;
      expect(error instanceof SourceError || error instanceof UploadError).toBe(true);
    }
  };
  for (const one of steps) {
    if (one.do === 'publish') await publish(one.id, one.isGone);
    else if (one.do === 'copy') await copyTo(one.to);
    else if (one.do === 'follow' && isThere(one.at)) await readers.get(one.at)?.follow();
    else if (one.do === 'back up') {
      rmSync(backup, { recursive: true, force: true });
      if (isThere('publication')) cpSync(publication.folder, backup, { recursive: true });
    } else if (one.do === 'restore' && existsSync(backup)) {
      for (const part of one.what === 'both' ? ['out', 'state'] : [one.what]) {
        rmSync(path.join(publication.folder, part), { recursive: true });
        cpSync(path.join(backup, part), path.join(publication.folder, part), { recursive: true });
      }
    }
  }
  await fetcher.close();
  for (const origin of origins.values()) await origin.close();
};

const numRuns = timesFrom('DEBDEX_TEST_HISTORIES', 15);

it(
  'P2: whoever follows changes, of a publication that is restored now and then or of copies of it, knows what is published or that changes are lost',
  async () => {
    const history = fc.array(step, { minLength: 10, maxLength: 60 });
    await fc.assert(fc.asyncProperty(history, run), { numRuns });
  },
  240_000 + numRuns * 10_000,
);
