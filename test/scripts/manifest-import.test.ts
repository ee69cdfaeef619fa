import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeEntryFile } from '../../scripts/manifest/entry-file.ts';
import { writeTaken } from '../../scripts/manifest/import-command.ts';
import { type ImportPlan, planImport } from '../../scripts/manifest/import-list.ts';
import { manifestEntrySchema } from '../../src/contract/manifest.ts';
import { readYaml } from '../../src/contract/yaml.ts';
import { readManifest } from '../../src/crawl/read-manifest.ts';
import { runScript } from '../support/run-script.ts';

const entry = (slug: string, uri: string, more = {}) => ({ slug, uri, ranking: 3, ...more });
const known = [
  manifestEntrySchema.parse(entry('one', 'https://One.example/repo/', { aliases: ['uno'] })),
  manifestEntrySchema.parse(entry('old', 'http://old.example')),
];
const plan = (...foreign: unknown[]) => planImport(known, foreign, { check: (uri: string) => !uri.includes('unsafe') });
const slugsOf = ({ taken }: ImportPlan) => taken.map((one) => one.entry.slug);

describe('a foreign list', () => {
  it('is compared by address, whatever the scheme, the slashes at the end and the case of the host', async () => {
    const found = await plan(
      entry('eins', 'http://ONE.example/repo//'),
      entry('uno', 'https://one.example/repo'),
      entry('two', 'https://one.example/Repo', { aliases: ['zwei'] }),
      entry('deux', 'http://one.example/Repo/', { aliases: ['dos', 'zwei'] }),
      entry('old', 'https://old.example/'),
    );
    expect(found.present).toEqual([
      { slug: 'eins', as: 'one', missing: ['eins'] },
      { slug: 'uno', as: 'one', missing: [] },
      { slug: 'old', as: 'old', missing: [] },
    ]);
    expect(found.refused).toEqual([]);
    expect(found.taken.map((one) => one.entry)).toEqual([
      manifestEntrySchema.parse(entry('two', 'https://one.example/Repo', { aliases: ['zwei', 'deux', 'dos'] })),
    ]);
  });

  it('takes no name that leads elsewhere, in whatever letter case', async () => {
    const found = await plan(
      entry('UNO', 'https://new.example/'),
      entry('three', 'https://three.example/', { aliases: ['ONE', 'drei'] }),
      entry('Drei', 'https://drei.example/'),
    );
    expect(slugsOf(found)).toEqual(['three']);
    expect(found.taken[0]?.entry.aliases).toEqual(['drei']);
    expect(found.taken[0]?.left).toEqual(['the alias ONE, which leads to one already']);
    expect(found.refused.map(({ place }) => place)).toEqual(['"UNO" ([0])', '"Drei" ([2])']);
  });

  it('keeps what is sound, and says of the rest what is wrong with it', async () => {
    const found = await plan(
      entry('alias', 'https://alias.example/', { aliases: ['m@n', 7, 'fine', 'fine', 'alias'], suite: null }),
      entry('surplus', 'https://surplus.example/', { maintainer: 'somebody' }),
      entry('component', 'https://component.example/', { component: 'main' }),
      entry('../up', 'https://up.example/'),
      entry('rank', 'ftp://rank.example/', { ranking: '3' }),
      entry('danger', 'https://unsafe.example/'),
      'text',
      null,
      [],
    );
    expect(slugsOf(found)).toEqual(['alias', 'surplus']);
    expect(found.taken.map(({ left }) => left)).toEqual([
      ['the alias "m@n", which is no slug', 'the alias 7, which is no slug'],
      ['"maintainer", which is no field of an entry'],
    ]);
    expect(found.taken[0]?.entry.aliases).toEqual(['fine']);
    expect(found.refused.map(({ place, reasons }) => [place, reasons.length])).toEqual([
      ['"component" ([2])', 1],
      ['"../up" ([3])', 1],
      ['"rank" ([4])', 2],
      ['"danger" ([5])', 1],
      ['([6])', 1],
      ['([7])', 1],
      ['([8])', 1],
    ]);
  });

  it('is refused what a build would refuse: a key that is none, and a header that belongs to the crawler', async () => {
    const key = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME\n-----END PGP PUBLIC KEY BLOCK-----\n';
    const found = await plan(
      entry('key', 'https://key.example/', { key }),
      entry('header', 'https://header.example/', { headers: { Host: 'other.example' } }),
    );
    expect(found.taken).toEqual([]);
    expect(found.refused.map(({ reasons }) => reasons)).toEqual([
      [expect.stringMatching(/^key: cannot be read as a public key \(/)],
      [expect.stringMatching(/^headers\.Host: is a header that the crawler sets/)],
    ]);
  });

  it('C7: takes time in proportion to its length', async () => {
    const list = (length: number) => Array.from({ length }, (_, n) => entry(`s${n}`, `https://s${n}.example/`));
    const cost = async (length: number) => {
      const begun = process.cpuUsage();
      await plan(...list(length));
      return process.cpuUsage(begun).user;
    };
    await cost(500);
    expect(await cost(4000)).toBeLessThan((await cost(1000)) * 4 * 5 + 200_000);
  });
});

describe('npm run manifest -- import', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'debdex-import-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('writes a file for each new entry, overwrites none, and writes nothing when it is told so', async () => {
    const manifest = path.join(folder, 'repositories');
    mkdirSync(manifest);
    writeFileSync(path.join(manifest, 'one.yaml'), '# mine\nslug: one\nuri: https://one.example\nranking: 1\n');
    const list = path.join(folder, 'list.json');
    writeFileSync(
      list,
      JSON.stringify([
        entry('one', 'https://one.example/', { aliases: ['uno'] }),
        entry('1500', 'https://suite.example/', { suite: '1800', component: 'main', binary: 'iphoneos-arm64' }),
        entry('broken', 'nowhere'),
        { slug: 'bare' },
      ]),
    );
    const take = (...flags: string[]) =>
      runScript('manifest', ['import', list, '--manifest', manifest, '--source', 'a friend\nslug: evil', ...flags]);

    const dry = await take('--dry-run');
    expect(dry).toMatchObject({ status: 1, out: expect.stringContaining('1 new, 1 there already, 2 not sound.') });
    expect(readdirSync(manifest)).toEqual(['one.yaml']);

    const { status, out } = await take();
    expect(status).toBe(1);
    expect(out).toContain('write into its aliases: uno');
    expect(out).toContain('uri: must be an absolute URL');
    expect(out).toContain('ranking: is missing');
    expect(readFileSync(path.join(manifest, 'one.yaml'), 'utf8')).toContain('# mine');
    const text = readFileSync(path.join(manifest, '1500.yaml'), 'utf8');
    expect(text).toMatch(
      /^# yaml-language-server: \$schema=.*data\/schema\/repository\.json\n# From a friend slug: evil\.\n/,
    );
    expect((await readManifest(manifest)).map(({ slug, suite }) => [slug, suite])).toEqual([
      ['1500', '1800'],
      ['one', './'],
    ]);
    expect(await take()).toMatchObject({ status: 1, out: expect.stringContaining('0 new, 2 there already') });
  });

  it('C5: writes all that an entry says into its file, so that nothing of it is lost', () => {
    const key = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME\n-----END PGP PUBLIC KEY BLOCK-----\n';
    const more = { aliases: ['b'], bootstrap: true, key, headers: { 'X-Machine': 'iPhone10,6' } };
    const suite = { suite: '1800', component: 'main', binary: 'iphoneos-arm64' };
    for (const given of [entry('a', 'https://a.example', { ...more, ...suite }), entry('a', 'https://a.example')]) {
      const whole = manifestEntrySchema.parse(given);
      expect(manifestEntrySchema.parse(readYaml(composeEntryFile(whole, folder)))).toEqual(whole);
    }
  });

  it('C9: leaves a file alone that came into being meanwhile', () => {
    const taken = [{ entry: manifestEntrySchema.parse(entry('mine', 'https://mine.example')), left: [] }];
    writeFileSync(path.join(folder, 'mine.yaml'), 'mine');
    expect(() => writeTaken({ taken }, folder, undefined)).toThrow('import again');
    expect(readFileSync(path.join(folder, 'mine.yaml'), 'utf8')).toBe('mine');
  });

  it('takes nothing that is on the safety list of the data folder', async () => {
    const data = path.join(folder, 'data');
    mkdirSync(path.join(data, 'repositories'), { recursive: true });
    const unsafe = {
      host: 'bad.example',
      reason: 'Distributes what is harmful.',
      date: '2026-01-01',
      source: 'https://source.example',
    };
    writeFileSync(path.join(data, 'safety.yaml'), JSON.stringify([unsafe]));
    const list = path.join(folder, 'unsafe.json');
    writeFileSync(list, JSON.stringify([entry('bad', 'https://repo.bad.example'), entry('fine', 'https://a.example')]));
    const ended = await runScript('manifest', ['import', list, '--data', data]);
    expect(ended).toMatchObject({ status: 1, out: expect.stringContaining('1 new, 0 there already, 1 not sound.') });
    expect(readdirSync(path.join(data, 'repositories'))).toEqual(['fine.yaml']);
  });

  it('says what it cannot read', async () => {
    const manifest = path.join(folder, 'none');
    mkdirSync(manifest);
    const list = path.join(folder, 'twice.yaml');
    writeFileSync(list, '- slug: a\n  slug: b\n');
    const take = (...argv: string[]) => runScript('manifest', [...argv]);
    const long = path.join(folder, 'long.json');
    writeFileSync(long, '[]');
    truncateSync(long, (16 << 20) + 1);
    const broken = path.join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(path.join(broken, 'a.yaml'), 'slug: a\n');
    const foreign = path.join(folder, 'foreign.json');
    writeFileSync(
      foreign,
      Buffer.from('[{ "slug": "caf\u00e9", "uri": "https://a.example", "ranking": 3 }]', 'latin1'),
    );
    const results = await Promise.all([
      take('import', list, '--manifest', manifest),
      take('import', '--manifest', manifest),
      take(),
      take('import', '--help'),
      take('import', long, '--manifest', manifest),
      take('import', foreign, '--manifest', manifest),
      take('eject', list),
      take('import', list, '--manifest', broken),
      take('import', path.join(folder, 'none.json'), '--manifest', manifest),
      take('import', folder, '--manifest', manifest),
    ]);
    expect(results.map(({ status }) => status)).toEqual([2, 2, 2, 0, 2, 2, 2, 2, 2, 2]);
    expect(results[4]?.error).toContain('16777217 bytes long, and a list has at most 16777216');
    expect(results[5]?.error).toMatch(/foreign\.json is not UTF-8\n/);
    expect(results[8]?.error).toMatch(/none\.json is not there\n/);
    expect(results[9]?.error).toMatch(/^\S+ is a folder\n/);
    expect(results[7]?.error).toContain('a.yaml: uri: is missing');
    expect(results[6]?.error).toContain('There is no action eject.');
    expect(results[0]?.error).toContain('is neither JSON nor YAML');
    expect(results[1]?.error).toContain('npm run manifest -- import FILE');
    expect(results[2]?.error).toContain('An ACTION is missing.');
    expect(results[3]?.out).toContain('Usage: npm run manifest -- import FILE [options]');
  });
});
