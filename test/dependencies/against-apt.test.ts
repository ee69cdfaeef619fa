import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { AptClient, hasApt } from '../support/apt-client.ts';
import { packages } from '../support/catalog.ts';
import { namesOf, openClosures } from '../support/dependencies.ts';
import { temporaryFolder } from '../support/folder.ts';

if (!hasApt) process.stdout.write('skipped: this machine has no apt to compare with\n');

const stanzas = [
  { Package: 'base', Provides: 'shell (= 2), tools, plain', Priority: 'optional' },
  { Package: 'unspoken', Provides: 'plain' },
  { Package: 'asks-plain', Depends: 'plain' },
  { Package: 'busy', Provides: 'shell (= 3)', Priority: 'important' },
  { Package: 'refusing', Conflicts: 'busy', Depends: 'base' },
  { Package: 'lacking', Depends: 'nowhere' },
  { Package: 'old', Version: '1' },
  { Package: 'old', Version: '2', Breaks: 'lib (<< 1.5)' },
  { Package: 'lib', Version: '2:1.0', 'Multi-Arch': 'allowed' },
  { Package: 'round', Depends: 'turn' },
  { Package: 'turn', Depends: 'round, base', 'Pre-Depends': 'lib (>= 1:9)' },
  { Package: 'asks-chosen', Depends: 'base, busy | tools' },
  { Package: 'asks-first', Depends: 'busy | base' },
  { Package: 'asks-second', Depends: 'lacking | base' },
  { Package: 'asks-virtual', Depends: 'shell' },
  { Package: 'asks-version', Depends: 'shell (<< 3)' },
  { Package: 'asks-unversioned', Depends: 'tools (>= 1)' },
  { Package: 'asks-old', Depends: 'old (= 1)' },
  { Package: 'asks-new', Depends: 'old (>= 2), lib:any' },
  { Package: 'asks-any', Depends: 'base:any' },
  { Package: 'asks-both', Depends: 'refusing, busy' },
  { Package: 'asks-either', Depends: 'refusing, busy | lib' },
  { Package: 'asks-lacking', Depends: 'lacking' },
  { Package: 'asks-much', Depends: 'turn, asks-either, asks-second', Recommends: 'busy' },
].map((fields) => ({ ...fields, Architecture: 'iphoneos-arm64' }));

describe.skipIf(!hasApt)('against apt itself, what is installed', () => {
  it('D1: with packages that try each rule', async () => {
    const folder = temporaryFolder();
    const repository = path.join(folder, 'repository');
    mkdirSync(repository);
    const index = packages(...stanzas);
    writeFileSync(path.join(repository, 'Packages'), index);
    const apt = new AptClient(folder, [{ uri: `file://${repository}` }]);
    const { text } = await apt.update();
    const { ask, close } = await openClosures([{ slug: 'r', packages: index }]);
    const asked = [...new Set(stanzas.map(({ Package: name }) => name))];
    const inOrder = (names: Iterable<string> | undefined) => names && [...names].sort();
    const theirs = await Promise.all(asked.map(async (name) => [name, inOrder(await apt.simulate(name))]));
    const ours = await Promise.all(
      asked.map(async (packageId) => {
        const closure = await ask({ packageId, architecture: 'iphoneos-arm64' });
        return [packageId, inOrder(closure.outcome === 'installable' ? namesOf(closure) : undefined)];
      }),
    );
    close();
    expect(ours, text).toEqual(theirs);
  });
});

/** What names two packages that provide the same: apt takes YES, because the index names it later. */
const namings: readonly Record<string, string>[] = [
  { Depends: 'NO' },
  { Depends: 'NO, YES' },
  { Depends: 'NO:iphoneos-arm64' },
  { Depends: 'YES:any, NO' },
  { Depends: 'YES:iphoneos-arm, NO' },
  { Depends: 'YES', Architecture: 'iphoneos-arm', Provides: 'NO' },
  { Depends: 'NO', Architecture: 'all' },
  // Each field is read before the next.
  { 'Pre-Depends': 'NO', Depends: 'YES' },
  { Depends: 'NO', Conflicts: 'YES' },
  { Conflicts: 'NO', Breaks: 'YES' },
  { Breaks: 'NO', Recommends: 'YES' },
  { Recommends: 'NO', Suggests: 'YES' },
  { Suggests: 'NO', Replaces: 'YES' },
  { Replaces: 'NO', Enhances: 'YES' },
  { Enhances: 'NO', Provides: 'YES' },
];

/** Each of them with names in both orders. */
const ties = namings.flatMap((naming, number) =>
  (['ab', 'ba'] as const).map((order) => {
    const end = `-${number}-${order}`;
    const [no, yes] = [...order].map((letter) => `${letter}-of${end}`);
    const tie = `tie${end}`;
    const asks = `asks${end}`;
    const fields = Object.entries(naming).map(([field, text]) => [
      field,
      text.replace('NO', `${no}`).replace('YES', `${yes}`),
    ]);
    const stanzas = [
      { Package: `names${end}`, ...(Object.fromEntries(fields) as object) },
      { Package: `${yes}`, Provides: tie },
      { Package: `${no}`, Provides: tie },
      { Package: asks, Depends: tie },
    ];
    return { asks, end, stanzas, says: `${order} ${JSON.stringify(naming)}` };
  }),
);

describe.skipIf(!hasApt)('against apt itself, of two packages that provide the same', () => {
  it('D1: the one that the index names last, whatever they are called', async () => {
    const folder = temporaryFolder();
    const repository = path.join(folder, 'repository');
    mkdirSync(repository);
    const all = ties.flatMap(({ stanzas: of }) => of);
    const index = packages(...all.map((fields) => ({ Architecture: 'iphoneos-arm64', ...fields })));
    writeFileSync(path.join(repository, 'Packages'), index);
    const apt = new AptClient(folder, [{ uri: `file://${repository}` }]);
    const { text } = await apt.update();
    const { ask, close } = await openClosures([{ slug: 'r', packages: index }]);
    // All at once: no two of them have a name in common, and what apt takes is its start.
    const installed = [...((await apt.simulate(...ties.map(({ asks }) => asks))) ?? [text])];
    for (const { asks, end, says } of ties) {
      const theirs = installed.filter((named) => named.split(' ')[0]?.endsWith(end)).sort();
      const closure = await ask({ packageId: asks, architecture: 'iphoneos-arm64' });
      expect(namesOf(closure).sort(), says).toEqual(theirs);
    }
    expect(installed).toHaveLength(2 * ties.length);
    close();
  });
});

const lists = '/var/lib/apt/lists';
// Whatever mirror it came from, apt writes the address into the name of the file.
const ofDebian = /^(?<mirror>[^_]+_debian)_dists_(?<suite>[^_]+)_main_binary-amd64_Packages/;
const debian = existsSync(lists) ? readdirSync(lists).find((name) => ofDebian.test(name)) : undefined;
const wanted = Number(process.env.DEBDEX_TEST_CLOSURES ?? 0);

/** apt takes a second to read its cache, so some are asked side by side. */
const atOnce = 4;

/** So many of these, by a seed that stays the same. */
const pick = (names: readonly string[], count: number): string[] => {
  let seed = 7;
  return Array.from({ length: count }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return names[Math.floor((seed / 2 ** 31) * names.length)] ?? '';
  });
};

describe.skipIf(!hasApt || debian === undefined || wanted === 0)('against apt itself, packages of Debian main', () => {
  it('D1: all but one in fifty get the same answer', { timeout: 7_200_000 }, async () => {
    const folder = temporaryFolder();
    const file = path.join(lists, debian ?? '');
    const { mirror = '', suite = '' } = ofDebian.exec(debian ?? '')?.groups ?? {};
    const uri = `http://${mirror.replace('_', '/')}`;
    const apt = new AptClient(folder, [{ uri, place: `${suite} main` }], 'amd64');
    await apt.take(file);
    const index = await apt.read(file);
    const { ask, close } = await openClosures([{ slug: 'debian', packages: index }]);
    const different: string[] = [];
    const compare = async (packageId: string): Promise<void> => {
      const [theirs, closure] = await Promise.all([apt.simulate(packageId), ask({ packageId, architecture: 'amd64' })]);
      const ours = closure.outcome === 'installable' ? new Set(namesOf(closure)) : undefined;
      const difference = (theirs ?? new Set()).symmetricDifference(ours ?? new Set());
      if ((theirs === undefined) === (ours === undefined) && difference.size === 0) return;
      const told = `${packageId}: ${[...difference].slice(0, 10).join(', ')} ${JSON.stringify(closure.unmet).slice(0, 300)}`;
      different.push(told);
      process.stdout.write(`${told}\n`);
    };
    const names = pick(
      [...index.matchAll(/^Package: (.*)$/gm)].map(([, name = '']) => name),
      wanted,
    );
    for (let start = 0; start < names.length; start += atOnce) {
      await Promise.all(names.slice(start, start + atOnce).map(compare));
      if (start % 50 < atOnce) process.stdout.write(`${start} of ${wanted} compared\n`);
    }
    close();
    process.stdout.write(`${wanted - different.length} of ${wanted} alike\n`);
    expect(different.length).toBeLessThanOrEqual(wanted / 50);
  });
});
