import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManifestError, readManifest } from '../../src/crawl/read-manifest.ts';
import { createSigner } from '../support/signer.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'debdex-manifest-'));
});

afterEach(() => rm(folder, { recursive: true }));

const write = (name: string, content: string) => writeFile(join(folder, name), content);

const problemsOf = async (path: string): Promise<string[]> => {
  const error = await readManifest(path).catch((thrown: unknown) => thrown);
  if (!(error instanceof ManifestError)) throw new Error('the manifest was accepted');
  expect(error.message.split('\n')).toHaveLength(error.problems.length);
  return error.problems.map(({ file, field, message }) => `${file.slice(path.length)} ${field}: ${message}`);
};

const plain = (slug: string, rest = '') => `slug: ${slug}\nuri: https://${slug}.example/repo\nranking: 3\n${rest}`;

describe('a folder', () => {
  it('says where a list belongs that lies in it', async () => {
    await write('all.yaml', '- slug: a\n  uri: https://a.test/\n');
    expect(await problemsOf(folder)).toEqual([expect.stringContaining('name this file itself with --manifest')]);
  });

  it('gives its entries, with defaults, sorted by slug', async () => {
    await write('b.yaml', plain('b', 'bootstrap: true\naliases: [old-b]\n'));
    await write('a.yml', plain('a', 'suite: stable\ncomponent: main\nbinary: iphoneos-arm64\n'));
    await write('c.JSON', '{"slug": "c", "uri": "http://c.example", "ranking": 1}');
    await write('README.md', 'not an entry');
    await write('.hidden.yaml', 'neither');
    expect(await readManifest(folder)).toEqual([
      expect.objectContaining({ slug: 'a', suite: 'stable', component: 'main', binary: 'iphoneos-arm64' }),
      expect.objectContaining({ slug: 'b', suite: './', bootstrap: true, aliases: ['old-b'] }),
      expect.objectContaining({ slug: 'c', suite: './', bootstrap: false, aliases: [], ranking: 1 }),
    ]);
  });

  it('C6: takes headers for the origin, and none that the crawler sets or that would end a line', async () => {
    await write('a.yaml', plain('a', 'headers:\n  X-Machine: iPhone10,1\n  Authorization: Bearer x\n'));
    expect((await readManifest(folder))[0]?.headers).toEqual({ 'X-Machine': 'iPhone10,1', Authorization: 'Bearer x' });
    const own = ['Host', 'user-agent', 'If-None-Match', 'Content-Length', 'Range', 'Proxy-Authorization', 'a b', ''];
    for (const name of own) {
      await write('a.yaml', plain('a', `headers: { "${name}": x }\n`));
      expect(await problemsOf(folder), name).toHaveLength(1);
    }
    for (const value of ['a\\r\\nHost: b', ' a', 'é', '']) {
      await write('a.yaml', plain('a', `headers: { "X-A": "${value}" }\n`));
      expect(await problemsOf(folder), value).toHaveLength(1);
    }
  });

  it('C5: takes an armoured public key, and refuses what is none', async () => {
    const { publicKey } = await createSigner();
    const indented = (text: string) => `key: |\n  ${text.trim().replace(/\r?\n/g, '\n  ')}\n`;
    await write('a.yaml', plain('a', indented(publicKey)));
    expect((await readManifest(folder))[0]?.key?.trim()).toBe(publicKey.trim().replaceAll('\r', ''));
    const broken = publicKey.replace(/\n\r?\n[\s\S]{40}/, '\n\nAAAA');
    await write('a.yaml', plain('a', indented(broken)));
    await write('b.yaml', plain('b', 'key: 574871554A993E38F32D6CBC9EE2B1ABE995A588\n'));
    await write('c.yaml', plain('c', indented(publicKey.replaceAll('PUBLIC', 'PRIVATE'))));
    expect(await problemsOf(folder)).toEqual([
      expect.stringMatching(/^\/a.yaml key: cannot be read as a public key/),
      expect.stringMatching(/^\/b.yaml key: must be an armoured public key/),
      expect.stringMatching(/^\/c.yaml key: must be an armoured public key/),
    ]);
  });

  it('C5: takes several armoured blocks, each of which has to be a public key', async () => {
    const [one, two] = [(await createSigner()).publicKey, (await createSigner()).publicKey];
    const entryWith = (slug: string, ...blocks: string[]) =>
      write(`${slug}.yaml`, plain(slug, `key: |\n  ${blocks.join('').trim().replace(/\r?\n/g, '\n  ')}\n`));
    await entryWith('a', one, two);
    expect(await readManifest(folder)).toHaveLength(1);
    await entryWith('a', one, two.replace(/\n\r?\n[\s\S]{40}/, '\n\nAAAA'));
    await entryWith('b', one, one.replaceAll('PUBLIC', 'PRIVATE'), two);
    expect(await problemsOf(folder)).toEqual([
      expect.stringMatching(/^\/a.yaml key: cannot be read as a public key/),
      expect.stringMatching(/^\/b.yaml key: cannot be read as a public key \(holds a private key\)/),
    ]);
  });

  it('tells with its mistakes which entries have none', async () => {
    const entriesOf = (path: string) => readManifest(path).catch(({ entries }: ManifestError) => entries);
    await write('a.yaml', plain('a'));
    await write('b.yaml', plain('other'));
    await write('c.yaml', plain('c', 'aliases: [a]\n'));
    expect(await entriesOf(folder)).toEqual([expect.objectContaining({ slug: 'a' })]);
    const list = Array.from({ length: 12 }, (_, index) => ({
      slug: `r${index}`,
      uri: `https://${index}.example/`,
      ranking: index === 1 ? 9 : 1,
    }));
    await write('list.json', JSON.stringify(list));
    const right = list.filter(({ ranking }) => ranking === 1).map(({ slug }) => slug);
    expect((await entriesOf(join(folder, 'list.json'))).map(({ slug }) => slug)).toEqual(right.sort());
  });

  it('reports every mistake at once, with file and field', async () => {
    await write('a.yaml', 'slug: -A\nuri: ftp://a.example\nranking: 9\nraking: 1\nsuite: ../x\n');
    await write('b.yaml', plain('other'));
    await write('c.yaml', 'slug: [\n');
    await write('d.yaml', 'slug: d\nslug: d\nuri: https://d.example\nranking: 1\n');
    await write('e.yaml', plain('e', 'suite: stable\n'));
    await write('f.json', '[]');
    await write('g.yaml', '');
    await write('h.yaml', 'slug: h\nuri: https://h.example/\nranking: "3"\nbootstrap: yes\naliases: old-h\n');
    await write('i.yaml', 'slug: i\nuri: https://i.example/\n');
    await write('j.yaml', 'slug: j\nuri: https://j.example/\nsuite: stable\nbinary: amd64\nx: 1\n');
    await write('k.yaml', 'slug: k\nuri: https://k.example/\nranking: 9\ncomponent: main\n');
    const problems = await problemsOf(folder);
    for (const expected of [
      /a.yaml slug: must be/,
      /a.yaml uri: must begin with/,
      /a.yaml ranking: must be/,
      /a.yaml raking: is no field/,
      /a.yaml suite: /,
      /b.yaml slug: must be "b"/,
      /c.yaml : line 2/,
      /d.yaml : line 2, column 1: duplicated/,
      /e.yaml component: is required/,
      /e.yaml binary: is required/,
      /f.json : /,
      /g.yaml : /,
      /h.yaml ranking: must be a whole number from 1 \(best\) to 5, without quotes/,
      /h.yaml bootstrap: must be true or false, without quotes/,
      /h.yaml aliases: must be a list, such as \[old-name\]/,
      /i.yaml ranking: is missing/,
      /j.yaml ranking: is missing/,
      /j.yaml component: is required/,
      /j.yaml x: is no field/,
      /k.yaml component: belongs to a dists\/ repository/,
    ]) {
      expect(problems.join('\n')).toMatch(expected);
    }
    // What goes with a suite that is none itself is not known.
    expect(problems.filter((problem) => problem.includes('a.yaml'))).toHaveLength(5);
  });

  it('compares an entry with the others whatever else is wrong with it', async () => {
    const wrong = 'ranking: 9\n';
    const block = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nx\n-----END PGP PUBLIC KEY BLOCK-----\n';
    await write('a.yaml', `slug: A\nuri: https://a.example/repo\naliases: [old, "sp ace", b, old]\n${wrong}`);
    await write('b.yaml', JSON.stringify({ slug: 'a', uri: 'https://a.example/repo/', ranking: 1, key: block, x: 1 }));
    await write('c.yaml', 'slug: -c\nuri: https://c.example\nranking: 1\n');
    await write('d.yaml', 'slug: d\nuri: https://c.example\nranking: 1\n');
    const problems = (await problemsOf(folder)).join('\n');
    for (const expected of [
      /a.yaml slug: must be "a"/,
      /b.yaml slug: must be "b"/,
      /b.yaml slug: has the slug of A .*letter case/,
      /b.yaml uri: has the address.* of A \(.*a.yaml\)/,
      /b.yaml key: cannot be read as a public key/,
      /d.yaml uri: has the address.* of another entry \(.*c.yaml\)/,
      /a.yaml aliases\[3\]: old leads to A already/,
    ]) {
      expect(problems).toMatch(expected);
    }
  });

  it('H7: refuses YAML that stands for far more than it holds', async () => {
    const levels = Array.from(
      { length: 30 },
      (_, at) => `x${at}: &x${at} [${at === 0 ? '' : `*x${at - 1}, *x${at - 1}`}]\n`,
    );
    await write('a.yaml', levels.join(''));
    await write('b.yaml', `slug: ${'['.repeat(100_000)}`);
    expect(await problemsOf(folder)).toEqual([
      '/a.yaml : its aliases stand for far more than it holds',
      expect.stringMatching(/^\/b.yaml : line 1, column \d+: nesting exceeded/),
    ]);
  });

  it('takes an address alone that strict clients take too', async () => {
    for (const uri of [
      'https://m\u00fcnchen.example/',
      'https://a.example/caf\u00e9/',
      'https:a.example/',
      'https://a"b.example/',
    ]) {
      await write('a.yaml', `slug: a\nuri: '${uri}'\nranking: 1\n`);
      expect(await problemsOf(folder), uri).toEqual([expect.stringMatching(/a.yaml uri: must be written/)]);
    }
    await write('a.yaml', 'slug: a\nuri: HTTP://127.0.0.1:8080/A~b/%C3%A9/(x)+y/\nranking: 1\n');
    expect(await readManifest(folder)).toHaveLength(1);
  });

  const list = (...slugs: unknown[]) =>
    write('list.json', JSON.stringify(slugs.map((slug, at) => ({ slug, uri: `https://a${at}.example/`, ranking: 1 }))));

  it('C9: takes slugs of 1 to 64 letters, digits, dots, underscores and hyphens, words of the API among them', async () => {
    const slugs = ['1', 'a.', 'A.b_C-1', 'Foo', 'a..b', 'con', 'search', 'x.json', 'constructor', 'Z'.repeat(64)];
    await list(...slugs);
    const entries = await readManifest(join(folder, 'list.json'));
    expect(entries.map(({ slug }) => slug)).toEqual([...slugs].sort());
  });

  it('C9: refuses every other slug and says what one is', async () => {
    const wrong = [
      '',
      '.',
      '..',
      '.a',
      '-a',
      '_a',
      '__proto__',
      'a b',
      'a/b',
      'a\\b',
      'ä',
      'a\n',
      'a%2e',
      'Z'.repeat(65),
    ];
    const sentence = 'must be 1 to 64 letters (A-Z, a-z), digits, ".", "_" and "-", and begin with a letter or digit';
    await list(...wrong);
    expect(await problemsOf(join(folder, 'list.json'))).toEqual(wrong.map((_, at) => ` [${at}].slug: ${sentence}`));
    await list('a', 'b');
    await write('list.json', JSON.stringify([{ slug: 'a', uri: 'https://a.example/', ranking: 1, aliases: ['-'] }]));
    expect(await problemsOf(join(folder, 'list.json'))).toEqual([` [0].aliases[0]: ${sentence}`]);
  });

  it('C9: says where a slug is no text in YAML', async () => {
    for (const slug of ['1', '1.5', 'true', 'null', '0x1F']) {
      await write('list.yaml', `- slug: ${slug}\n  uri: https://a.example/\n  ranking: 1\n`);
      expect(await problemsOf(join(folder, 'list.yaml'))).toEqual([' [0].slug: must be text: put it in quotes']);
    }
  });

  it('says of each mistake what to do, and not which types there are', async () => {
    const rest = 'suite: 1800\ncomponent: 5\nbinary: amd64\nheaders: {Host: a}\nranking: 3\n';
    await write('list.yaml', `- slug: a\n  ${rest.replaceAll('\n', '\n  ')}`);
    expect(await problemsOf(join(folder, 'list.yaml'))).toEqual([
      ' [0].uri: is missing',
      ' [0].suite: must be text: put it in quotes',
      ' [0].component: must be text: put it in quotes',
      ' [0].headers.Host: is a header that the crawler sets by itself',
    ]);
    await write('list.yaml', '- suite: a b\n');
    expect(await problemsOf(join(folder, 'list.yaml'))).toContainEqual(
      ' [0].suite: must be a suite name such as "stable", or "./" for a flat repository, without "." segments or blanks',
    );
    expect(await problemsOf(join(folder, 'list.yaml'))).toContainEqual(' [0].slug: is missing');
    await write('list.yaml', '- 7\n- \n- {uri: 5, key: 5, headers: x}\n- headers: {X-Firmware: 16.0}\n');
    const problems = (await problemsOf(join(folder, 'list.yaml'))).join('\n');
    expect(problems).not.toContain('Invalid input');
    expect(problems).toContain(' [0]: must be an entry, with slug, uri and ranking');
    expect(problems).toContain(' [2].headers: must be names and values of headers, such as {X-Machine: "iPhone10,1"}');
    expect(problems).toContain(' [3].headers.X-Firmware: must be text: put it in quotes');
    const long = { key: 'k'.repeat(200_001), headers: { 'X-Machine': 'h'.repeat(4097) } };
    await write('list.json', JSON.stringify([{ slug: 'a', uri: 'https://a.example', ranking: 3, ...long }]));
    const ofLong = (await problemsOf(join(folder, 'list.json'))).join('\n');
    expect(ofLong).toContain(' [0].key: must be at most 200000 characters');
    expect(ofLong).toContain(' [0].headers.X-Machine: must be at most 4096 characters');
    expect(ofLong).not.toContain('quotes');
  });

  it('C9: tells no slugs and aliases apart by letter case', async () => {
    await list('Foo', 'foo', 'bar');
    const file = join(folder, 'list.json');
    expect(await problemsOf(file)).toEqual([
      ` [1].slug: has the slug of Foo (${file}[0]): letter case does not tell slugs apart`,
    ]);
    const entry = (slug: string, aliases: string[]) => ({ slug, uri: `https://${slug}.example/`, ranking: 1, aliases });
    await write(
      'list.json',
      JSON.stringify([entry('Foo', ['Old', 'FOO']), entry('bar', ['fOO', 'old', 'BAR', 'bar'])]),
    );
    expect(await problemsOf(file)).toEqual([
      ' [0].aliases[1]: FOO leads to Foo already: letter case does not tell slugs apart',
      ' [1].aliases[0]: fOO leads to Foo already: letter case does not tell slugs apart',
      ' [1].aliases[1]: old leads to Foo already: letter case does not tell slugs apart',
      ' [1].aliases[2]: BAR leads to bar already: letter case does not tell slugs apart',
      ' [1].aliases[3]: bar leads to bar already',
    ]);
  });

  it('may list one address in several suites, and not twice in one', async () => {
    const dists = (slug: string, suite: string, uri: string) =>
      `slug: ${slug}\nuri: ${uri}\nranking: 1\nsuite: ${suite}\ncomponent: main\nbinary: amd64\n`;
    await write('a.yaml', dists('a', 'stable', 'https://x.example/apt'));
    await write('b.yaml', dists('b', 'testing', 'https://x.example/apt/'));
    expect(await readManifest(folder)).toHaveLength(2);
    await write('c.yaml', dists('c', 'stable', 'https://X.example:443/apt/'));
    expect(await problemsOf(folder)).toEqual([expect.stringMatching(/c.yaml uri: .*of a \(.*a.yaml\)/)]);
  });

  it('may not use a slug or an alias for two repositories', async () => {
    await write('a.yaml', plain('a', 'aliases: [b, old]\n'));
    await write('b.yaml', plain('b', 'aliases: [old, b]\n'));
    expect((await problemsOf(folder)).sort()).toEqual([
      expect.stringMatching(/a.yaml aliases\[0\]: .*b/),
      expect.stringMatching(/b.yaml aliases\[0\]: .*old/),
      expect.stringMatching(/b.yaml aliases\[1\]: .*b/),
    ]);
  });

  it('is told which file is none: a folder, or a link that leads nowhere', async () => {
    await mkdir(join(folder, 'a.yaml'));
    await symlink('nowhere', join(folder, 'b.yaml'));
    expect(await problemsOf(folder)).toEqual([
      expect.stringMatching(/a\.yaml : is a folder$/),
      expect.stringMatching(/b\.yaml : is not there$/),
    ]);
  });

  it('must not be empty, and must be there', async () => {
    expect(await problemsOf(folder)).toEqual([' : holds no entries']);
    const nowhere = 'is not there: name another with --manifest or --data';
    await write('a.yaml', plain('a'));
    for (const place of ['none', 'a.yaml/below'])
      expect(await problemsOf(join(folder, place))).toEqual([expect.stringContaining(nowhere)]);
  });
});

describe('one file', () => {
  it.each(['list.json', 'list.yaml'])('%s gives the entries that it lists', async (name) => {
    await write(name, JSON.stringify([{ slug: 'x', uri: 'https://x.example', ranking: 2 }]));
    expect(await readManifest(join(folder, name))).toMatchObject([{ slug: 'x', suite: './' }]);
  });

  it('reports mistakes by their place in the list', async () => {
    const entry = { slug: 'x', uri: 'https://x.example', ranking: 2 };
    await write('list.json', JSON.stringify([entry, { slug: 'y', uri: 'https://y.example', ranking: 0 }, entry, 7]));
    expect(await problemsOf(join(folder, 'list.json'))).toEqual([
      expect.stringMatching(/^ \[1\].ranking: must be/),
      expect.stringMatching(/^ \[3\]: /),
      expect.stringMatching(/^ \[2\].slug: .*\[0\]/),
      expect.stringMatching(/^ \[2\].uri: .*\[0\]/),
    ]);
  });

  it('must hold a list, in UTF-8', async () => {
    await write('entry.yaml', plain('entry'));
    expect(await problemsOf(join(folder, 'entry.yaml'))).toEqual([expect.stringMatching(/must hold a list/)]);
    await writeFile(join(folder, 'bytes.json'), Buffer.of(0x5b, 0xff, 0x5d));
    expect(await problemsOf(join(folder, 'bytes.json'))).toEqual([expect.stringMatching(/ : is not UTF-8$/)]);
  });
});
