import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { compress } from '../support/apt-repository.ts';
import { OriginServer } from '../support/origin-server.ts';
import { type CommunityPlan, composeCommunity } from '../support/synthetic-community.ts';
import { alterIndex } from './altered-index.ts';
import type { Input } from './inputs.ts';
import { count } from './report.ts';
import { Missing, tell, type Workshop } from './workshop.ts';

/** How often Debian main is served, each time with other names: a million packages. */
export const copies = 16;

/** The whole community. */
const plan: CommunityPlan = { seed: 18, repositories: 460, packages: 100_000, versions: 250_000 };

const lists = '/var/lib/apt/lists';
const indexName = /_dists_[^_]+_main_binary-[a-z0-9]+_Packages/;

const readDebianMain = (): Buffer => {
  const names = existsSync(lists) ? readdirSync(lists).filter((name) => indexName.test(name)) : [];
  const sizeOf = (name: string) => statSync(path.join(lists, name)).size;
  const largest = names.reduce<string | undefined>(
    (most, name) => (most !== undefined && sizeOf(most) > sizeOf(name) ? most : name),
    undefined,
  );
  if (largest === undefined) throw new Missing('there is no index of Debian main in the apt lists (apt-get update)');
  const options = { maxBuffer: 2 ** 30 };
  const { stdout, error } = spawnSync('/usr/lib/apt/apt-helper', ['cat-file', path.join(lists, largest)], options);
  if (error !== undefined) throw new Missing('the apt lists can be read by apt-helper alone, which is not here');
  return stdout;
};

/** An input in which one package can be changed. */
export interface ChangingInput extends Input {
  /** Gives one package of the largest repository another version. */
  change(): Promise<void>;
}

const release = (index: Buffer): string =>
  'Origin: Altered\nLabel: Altered\nSuite: stable\nCodename: altered\nDate: Mon, 01 Jun 2026 10:00:00 UTC\n' +
  'Architectures: amd64\nComponents: main\nDescription: an index of other names\nSHA256:\n' +
  ` ${hash('sha256', index)} ${index.length} main/binary-amd64/Packages.gz\n`;

const serveCopy = (origin: OriginServer, slug: string, text: Buffer): void => {
  const index = gzipSync(text, { level: 1 });
  origin.put(`/${slug}/dists/stable/main/binary-amd64/Packages.gz`, index);
  origin.put(`/${slug}/dists/stable/Release`, release(index));
};

interface Entry {
  readonly slug: string;
  readonly uri: string;
  readonly ranking: number;
}

const inputOf = (
  workshop: Workshop,
  { name, origin, entries }: { name: string; origin: OriginServer; entries: readonly Entry[] },
): Input => {
  const manifest = workshop.path(`${name.replaceAll(' ', '-')}.json`);
  writeFileSync(manifest, JSON.stringify(entries));
  return {
    name,
    manifest,
    repositories: entries.length,
    requests: async () => {
      const counts = new Map<string, number>();
      for (const { path: asked } of origin.requests) {
        const slug = asked.split('/')[1] ?? '';
        counts.set(slug, (counts.get(slug) ?? 0) + 1);
      }
      return [...counts.values()];
    },
    reset: async () => origin.reset(),
  };
};

const startOrigin = async (workshop: Workshop): Promise<OriginServer> => {
  const origin = await OriginServer.start();
  workshop.atEnd(() => origin.stop());
  return origin;
};

// A new version of the package in the middle: the last digit of its `Version` changes.
const changeOne = (text: Buffer): Buffer => {
  const at = text.indexOf('\nVersion: ', text.length / 2) + 1;
  const end = text.indexOf('\n', at);
  return Buffer.concat([text.subarray(0, end), Buffer.from('.1'), text.subarray(end)]);
};

/** One altered copy of Debian main, and all of them together, beginning with that one. */
export const debianInputs = (workshop: Workshop): Promise<{ readonly one: Input; readonly all: ChangingInput }> =>
  workshop.once('altered copies', async () => {
    const main = readDebianMain();
    const origin = await startOrigin(workshop);
    const entries: Entry[] = [];
    for (let copy = 0; copy < copies; copy++) {
      tell(`altering Debian main, ${copy + 1} of ${copies}`);
      const slug = `altered-${copy + 1}`;
      serveCopy(origin, slug, alterIndex(main, copy));
      const suite = { suite: 'stable', component: 'main', binary: 'amd64' };
      entries.push({ slug, uri: origin.uri(slug), ranking: 1 + (copy % 5), ...suite });
      // This lets the origin answer in between.
      await new Promise((resolve) => setImmediate(resolve));
    }
    let first: Buffer = alterIndex(main, 0);
    const one = inputOf(workshop, { name: 'Debian main altered', origin, entries: entries.slice(0, 1) });
    const all = inputOf(workshop, { name: `Debian main altered × ${copies}`, origin, entries });
    const change = async () => {
      first = changeOne(first);
      serveCopy(origin, 'altered-1', first);
    };
    return { one, all: { ...all, change } };
  });

const compressions = ['gz', 'plain', 'zst'] as const;

/** The synthetic community. */
export const communityInput = (workshop: Workshop): Promise<ChangingInput> =>
  workshop.once('community', async () => {
    const origin = await startOrigin(workshop);
    const entries: Entry[] = [];
    let largest: { readonly packages: number; change(): Promise<void> } | undefined;
    for (const repository of composeCommunity(plan)) {
      const { slug, ranking, release: fields, isHashed, packageCount } = repository;
      if (entries.length % 50 === 0) tell(`composing the community, ${entries.length} of ${plan.repositories}`);
      const compression = compressions[entries.length % compressions.length] ?? 'gz';
      const name = compression === 'plain' ? 'Packages' : `Packages.${compression}`;
      const serve = async (text: Buffer | string) => {
        const index = await compress(text, compression);
        origin.put(`/${slug}/${name}`, index);
        const said = Object.entries(fields).map(([field, value]) => `${field}: ${value}\n`);
        const hashes = isHashed ? `SHA256:\n ${hash('sha256', index)} ${index.length} ${name}\n` : '';
        origin.put(`/${slug}/Release`, said.join('') + hashes);
      };
      await serve(repository.packages);
      entries.push({ slug, uri: origin.uri(slug), ranking });
      if (packageCount > (largest?.packages ?? 0)) {
        let text: Buffer = Buffer.from(repository.packages);
        const change = () => {
          text = changeOne(text);
          return serve(text);
        };
        largest = { packages: packageCount, change };
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    const name = `community of ${count(plan.packages)}`;
    return { ...inputOf(workshop, { name, origin, entries }), change: async () => largest?.change() };
  });
