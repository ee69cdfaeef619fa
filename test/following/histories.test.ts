import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CatalogFile } from '../../src/catalog/node-sqlite.ts';
import { tellsOfGenerations } from '../../src/contract/generation.ts';
import { Follower } from '../../src/following/follower.ts';
import { mirror } from '../../src/following/mirror.ts';
import { PublicationSource } from '../../src/following/source.ts';
import { TakenCatalog } from '../../src/following/taken-catalog.ts';
import { type Taken, TakenFolder } from '../../src/following/taken-folder.ts';
import { createFetcher } from '../../src/net/fetcher.ts';
import { listFiles } from '../../src/publication/folder-entries.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { packages, type SourceRepository } from '../support/catalog.ts';
import { temporaryFolder } from '../support/folder.ts';
import { timesFrom } from '../support/longer-runs.ts';

// Some of these are written otherwise in the names of files.
const ids = ['com.example.a', 'com.example.B', 'search', 'naïve paquet', 'a/b', 'x'.repeat(255)];

const packageOf = fc.record({
  Package: fc.constantFrom(...ids),
  Version: fc.constantFrom('1.0', '2.0', '1:0.1'),
  // A long one makes lists that stand as files of their own.
  Description: fc.constantFrom('short', 'other', 'long '.repeat(6000)),
});

const repositoryOf = (slug: string): fc.Arbitrary<SourceRepository> =>
  fc
    .record({
      stanzas: fc.array(packageOf, { minLength: 1, maxLength: 12 }),
      ranking: fc.integer({ min: 1, max: 5 }),
      aliases: fc.constantFrom<string[]>([], [`former-${slug}`]),
    })
    .map(({ stanzas, ...rest }) => ({ slug, packages: packages(...stanzas), ...rest }));

const build = fc.record({
  repositories: fc
    .tuple(repositoryOf('one'), fc.option(repositoryOf('two')), fc.option(repositoryOf('three')))
    .map((all) => all.filter((one) => one !== null)),
  isMirrored: fc.boolean(),
  isReplicated: fc.boolean(),
});
type Build = typeof build extends fc.Arbitrary<infer Value> ? Value : never;
const history = fc.array(build, { minLength: 2, maxLength: 5 });

const contentOf = (folder: string): Map<string, string> =>
  new Map(
    [...listFiles(folder)]
      .filter((file) => !file.startsWith('.') && !tellsOfGenerations(file))
      .sort()
      .map((file) => [file, readFileSync(path.join(folder, file), 'base64')]),
  );

const numRuns = timesFrom('DEBDEX_TEST_HISTORIES', 6);

it(
  'P2: a mirror and a replica hold after any history of builds what is published, and nothing else',
  async () => {
    const run = async (builds: readonly Build[]) => {
      const publication = new BuiltPublication();
      const origin = await new FileOrigin(publication.folder).open();
      // Of this run alone: a later one may get the port of a former, of which connections are left.
      const fetcher = createFetcher({ allowPrivateNetworks: true });
      const source = new PublicationSource(origin.address, fetcher);
      const copy = temporaryFolder();
      const folder = new TakenFolder(temporaryFolder());
      const unlock = folder.lock();
      let taken: Taken | undefined;
      const told: unknown[] = [];
      const follower = new Follower({
        source,
        folder,
        taken,
        interval: 1000,
        now: () => new Date(),
        onTaken: async (next) => {
          taken = next;
        },
        onConfirmed: () => {},
        tell: (event) => event.event === 'generation-taken' || told.push(event),
      });
      const follow = {
        mirror: async () => {
          await mirror({ source, folder: copy });
          expect(contentOf(copy)).toEqual(contentOf(publication.folder));
        },
        replica: async () => {
          await follower.poll();
          expect(told).toEqual([]);
          const { note } = taken as Taken;
          const database = CatalogFile.openReadOnly(folder.catalog(note.catalog.sha256, 'sqlite'));
          const catalog = new TakenCatalog(database);
          const large = new Map(note.large.map((one) => [one.path, one.file.sha256]));
          const read = (file: string) => {
            const digest = large.get(file);
            return digest === undefined ? catalog.read(file) : readFileSync(folder.document(digest));
          };
          const published = [...contentOf(publication.folder)].filter(([file]) => file.startsWith('v2/'));
          for (const [file, content] of published) expect(read(file)?.toString('base64') === content, file).toBe(true);
          const noted = database.prepare<[string]>('SELECT path FROM document').all().flat();
          expect(noted.filter((file) => file.startsWith('v2/')).length).toBe(published.length);
          database.close();
        },
      };
      for (const { repositories, isMirrored, isReplicated } of builds) {
        await publication.publish(repositories);
        if (isMirrored) await follow.mirror();
        if (isReplicated) await follow.replica();
      }
      await follow.mirror();
      await follow.replica();
      unlock();
      await fetcher.close();
      await origin.close();
    };
    await fc.assert(fc.asyncProperty(history, run), { numRuns });
  },
  240_000 + numRuns * 10_000,
);
