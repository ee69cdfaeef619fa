import fs, {
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { readCatalogDigest } from '../../src/catalog/soundness.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { apiRoot, documentPath, packagesFolder } from '../../src/contract/paths.ts';
import { listFiles } from '../../src/publication/folder-entries.ts';
import { FolderNote } from '../../src/publication/folder-note.ts';
import { publishGeneration } from '../../src/publication/generation.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { readPackageNote } from '../../src/publication/package-documents.ts';
import { openBuild, packages, type SourceRepository } from '../support/catalog.ts';
import { emissionOf } from '../support/emission.ts';
import { temporaryFolder } from '../support/folder.ts';
import { replaceFunctions } from '../support/replaced-functions.ts';

// What is counted is the same on every machine, as times are not.
const looked = { files: [] as string[] };
const { lstatSync: look } = fs;
replaceFunctions(fs, {
  lstatSync: ((...asked: Parameters<typeof look>) => {
    if (String(asked[0]).endsWith('.json')) looked.files.push(path.basename(String(asked[0]), '.json'));
    return look(...asked);
  }) as typeof look,
});

/** A publication that is built again and again, of a folder that is noted from each build to the next. */
class Builds {
  readonly folder = temporaryFolder();
  readonly out = path.join(this.folder, 'dist');
  readonly state = path.join(this.folder, 'state');
  #minute = 0;
  /** How long before the end of a build the folder changed last, in milliseconds, and whether its disk tells parts of seconds. */
  changed = { ago: 60_000, inParts: true };

  /** The document of a package. */
  file(name: string): string {
    return path.join(this.out, documentPath.package(name));
  }

  /** Builds; returns what that wrote, which of the packages' documents it looked at, and what the generation says. */
  async build(repositories: readonly SourceRepository[], believed = true) {
    const now = new Date(Date.UTC(2026, 4, 2, 0, ++this.#minute));
    const { out, state } = this;
    const output = new OutputFolder(out);
    const { catalog, update } = await openBuild(state, repositories, now);
    const folder = readPackageNote(output, { state, catalog, verify: !believed, fewest: 4 });
    looked.files = [];
    const emission = emissionOf({ catalog, update }, out, { now, output, folder });
    await emission.write();
    const names = new Set(looked.files.filter((name) => name.startsWith('p.')));
    emission.forgetVanished();
    await catalog.publish();
    const { generation } = await publishGeneration({
      output,
      state,
      now,
      catalog: { file: catalogPath(state), ...(await readCatalogDigest(state)) },
      paths: emission.files(),
      standing: emission.standing,
      isTouched: (file) => output.hasPlaced(file),
      packages: [],
    });
    emission.removeVanished();
    const { ago, inParts } = this.changed;
    const second = Math.floor(Date.now() / 1000) * 1000;
    const changed = new Date(inParts ? second + 1 : second);
    utimesSync(path.join(out, packagesFolder), changed, changed);
    const clock = vi.spyOn(Date, 'now').mockReturnValue(changed.getTime() + ago);
    emission.noteFolder();
    clock.mockRestore();
    return { isUntouched: folder.isUntouched, looked: names, count: emission.count, generation };
  }
}

const name = (number: number): string => `p.${String(number).padStart(3, '0')}`;
const some = (count: number): SourceRepository => ({
  slug: 'one',
  packages: packages(...Array.from({ length: count }, (_, index) => ({ Package: name(index) }))),
});

it('C12: of an untouched folder a part is looked at by each build, and what is damaged where it stands is found in turn', async () => {
  for (const [count, part] of [
    [40, 4],
    [96, 6],
  ] as const) {
    const builds = new Builds();
    await builds.build([some(count)]);
    for (const round of [1, 2]) {
      const victim = builds.file(name(count / 2 + round));
      const text = readFileSync(victim, 'utf8');
      truncateSync(victim, 30);
      const seen = new Set<string>();
      let [repaired, turns] = [0, 0];
      while (seen.size < count) {
        const { isUntouched, looked: names, count: counted } = await builds.build([some(count)]);
        // The repaired file is renamed into its place: that changes the folder, and the build that did it notes how it looks then.
        expect(isUntouched).toBe(true);
        expect(names.size).toBeLessThanOrEqual(part);
        expect(++turns).toBeLessThanOrEqual(count / part + 1);
        for (const one of names) {
          expect(seen.has(one), one).toBe(false);
          seen.add(one);
        }
        repaired += counted.written;
      }
      expect(repaired).toBe(1);
      expect(readFileSync(victim, 'utf8')).toBe(text);
    }
  }
});

it('C12: of a few documents all are looked at each time; and where nothing changed no inventory is written', async () => {
  const builds = new Builds();
  await builds.build([some(3)]);
  const inventory = path.join(builds.state, 'publication', 'inventory.txt');
  const { ino } = statSync(inventory);
  for (const _ of [1, 2, 3])
    expect(await builds.build([some(3)])).toMatchObject({ isUntouched: true, looked: { size: 3 } });
  expect(statSync(inventory).ino).toBe(ino);
});

it('C12: a name that was removed, added or replaced in the folder is found by the next build', async () => {
  const builds = new Builds();
  await builds.build([some(40)]);
  const file = builds.file(name(30));
  const text = readFileSync(file, 'utf8');
  const stranger = builds.file('stranger');
  const moved = path.join(builds.folder, 'moved');
  const ways: (() => void)[] = [
    () => rmSync(file),
    () => writeFileSync(stranger, '{}'),
    () => {
      writeFileSync(moved, '{}');
      renameSync(moved, file);
    },
    () => rmSync(path.join(builds.out, packagesFolder), { recursive: true }),
    // Another folder, that looks like this one: restored from a backup of another day.
    () => {
      const folder = path.join(builds.out, packagesFolder);
      const { atime, mtime } = statSync(folder);
      cpSync(folder, moved, { recursive: true });
      rmSync(path.join(moved, path.basename(file)));
      rmSync(folder, { recursive: true });
      renameSync(moved, folder);
      utimesSync(folder, atime, mtime);
    },
    // The folder itself, but behind a link, which is replaced before anything is written there.
    () => {
      const root = path.join(builds.out, apiRoot);
      renameSync(root, moved);
      symlinkSync(moved, root);
    },
  ];
  for (const change of ways) {
    expect((await builds.build([some(40)])).isUntouched).toBe(true);
    change();
    expect(await builds.build([some(40)])).toMatchObject({ isUntouched: false });
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(existsSync(stranger)).toBe(false);
  }
});

it('C12: the note is not believed where it is not to be, was never taken, or could hide a change', async () => {
  const builds = new Builds();
  expect((await builds.build([some(20)])).isUntouched).toBe(false);
  expect((await builds.build([some(20)], false)).looked.size).toBe(20);
  expect((await builds.build([some(20)])).isUntouched).toBe(true);
  // A build that never ends.
  new FolderNote(new OutputFolder(builds.out), builds.state, { folder: packagesFolder, believed: true });
  expect((await builds.build([some(20)])).isUntouched).toBe(false);
  // A folder that changed a moment ago may change again and look the same, for longer where a clock tells whole seconds.
  for (const [ago, inParts, isNoted] of [
    [90, true, false],
    [110, true, true],
    [1900, false, false],
    [2100, false, true],
    [-60_000, true, false],
    [60_000, true, true],
  ] as const) {
    builds.changed = { ago, inParts };
    await builds.build([some(20)]);
    expect((await builds.build([some(20)])).isUntouched, `${ago} ms`).toBe(isNoted);
  }
  new OutputFolder(builds.out).keepCopies();
  expect((await builds.build([some(20)])).isUntouched).toBe(false);
  new OutputFolder(builds.out).endCopies();
  await builds.build([some(20)]);
  rmSync(path.join(builds.state, 'publication', 'inventory.txt'));
  expect((await builds.build([some(20)])).isUntouched).toBe(false);
  rmSync(catalogPath(builds.state));
  expect((await builds.build([some(20)])).isUntouched).toBe(false);
});

it('C13: what is published is the same whether the note is believed or not, whatever comes and goes', async () => {
  const [believing, looking] = [new Builds(), new Builds()];
  let random = 7;
  const draw = (below: number): number => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  const versions = new Map<string, number>();
  const text = () =>
    packages(...[...versions].map(([one, version]) => ({ Package: one, Version: `1.${version}` })), {
      Package: 'p.kept',
    });
  let untouched = 0;
  for (let step = 0; step < 12; step++) {
    for (let change = draw(4); change > 0; change--) {
      const one = name(draw(60));
      if (versions.has(one) && draw(3) === 0) versions.delete(one);
      else versions.set(one, step);
    }
    const others: SourceRepository[] =
      draw(3) === 0 ? [] : [{ slug: 'two', packages: packages({ Package: name(61) }, { Package: name(5) }) }];
    const repositories = [{ slug: 'one', packages: text() }, ...others];
    const one = await believing.build(repositories);
    const other = await looking.build(repositories, false);
    if (one.isUntouched) untouched++;
    expect(one.generation, `step ${step}`).toEqual(other.generation);
    expect(one.count, `step ${step}`).toEqual(other.count);
    expect([...listFiles(believing.out, 'v2')].sort()).toEqual([...listFiles(looking.out, 'v2')].sort());
  }
  expect(untouched).toBe(11);
});
