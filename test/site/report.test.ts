import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseRelease } from '../../src/apt/release.ts';
import { readGrowth } from '../../src/catalog/build-record.ts';
import { compressions } from '../../src/contract/compressions.ts';
import { type FindingCode, findingTexts } from '../../src/contract/finding-texts.ts';
import { readVanished } from '../../src/publication/vanished.ts';
import { codesOfMost, gatherFindings } from '../../src/site/common-findings.ts';
import { diagnose, doctorCommand } from '../../src/site/diagnosis.ts';
import { formatChange } from '../../src/site/format.ts';
import { computeGrowth } from '../../src/site/growth.ts';
import { mendEach } from '../../src/site/mending.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'debdex-report-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the commands for an owner', () => {
  const record = { suite: './', origin_release_path: '/Release' };
  const mendingCommands = (...asked: Parameters<typeof mendEach>) =>
    mendEach(...asked).flatMap(({ commands }) => commands);

  it('begin with what is wrong and go on with what hangs on it', () => {
    const names = (codes: Parameters<typeof mendEach>[0], isSigned = false) =>
      mendingCommands(codes, record, isSigned).map((line) => /apt-ftparchive|^\S+/.exec(line)?.[0]);
    const release = expect.stringContaining('apt-ftparchive release .');
    expect(mendingCommands(['release-without-hashes', 'release-weak-hashes'], record, false)).toEqual([release]);
    expect(mendingCommands(['index-variants-differ'], record, false)).toEqual([
      expect.stringMatching(/^dpkg-scanpackages /),
      release,
    ]);
    expect(names(['index-variants-differ'], true)).toEqual(['dpkg-scanpackages', 'awk', 'gpg']);
    expect(names(['signature-bad'])).toEqual(['gpg']);
    expect(names(['icon-malformed', 'certificate-expired'])).toEqual([]);
    expect(mendingCommands(['release-missing'], { suite: 'stable' }, false)).toEqual([]);
  });

  it('stand with the finding that they mend, once, and with none that they do not', () => {
    const told = (codes: Parameters<typeof mendEach>[0], isSigned = false) =>
      mendEach(codes, record, isSigned).map(({ commands, isAbove }) => [commands.length, isAbove]);
    expect(told(['index-shrunken', 'release-without-hashes', 'icon-malformed', 'release-weak-hashes'])).toEqual([
      [0, false],
      [1, false],
      [0, false],
      [0, true],
    ]);
    expect(told(['signature-bad', 'index-corrupt', 'release-expired'], true)).toEqual([
      [1, false],
      [3, false],
      [0, true],
    ]);
    expect(told(['release-missing', 'index-corrupt', 'release-expired'], true)).toEqual([
      [0, false],
      [1, false],
      [0, false],
    ]);
  });

  /** Runs the commands in a folder with these files, beside an apt-ftparchive that prints sums and nothing else. */
  const releaseMended = (files: Readonly<Record<string, string>>, commands: readonly string[]): string => {
    const around = mkdtempSync(path.join(folder, 'owner-'));
    const [tools, inside] = [path.join(around, 'tools'), path.join(around, 'repository')];
    for (const one of [tools, inside]) mkdirSync(one);
    const sums = 'Date: Mon, 01 Jun 2026 10:00:00 +0000\nSHA256:\n aa 1 Packages\n';
    writeFileSync(path.join(tools, 'apt-ftparchive'), `#!/bin/sh\n[ "$*" = 'release .' ] && printf '${sums}'\n`, {
      mode: 0o755,
    });
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(inside, name), text);
    execFileSync('sh', ['-e', '-c', commands.join('\n')], {
      cwd: inside,
      env: { ...process.env, PATH: `${tools}:${process.env.PATH}` },
    });
    const text = readFileSync(path.join(inside, 'Release'), 'utf8');
    expect(text.endsWith(sums)).toBe(true);
    expect(readdirSync(around).sort()).toEqual(['repository', 'tools']);
    return text.slice(0, -sums.length);
  };

  const fields =
    'Origin: Ada\'s; rm -rf ~ $(x) `y`\nLabel: "Other"\nSuite: stable\nVersion: 1.0\nCodename: ios\n' +
    'Architectures: iphoneos-arm\nComponents: main\nDescription: Tweaks\n of two lines\nPayment-Gateway: https://a.example/\n';

  it('C11: take over every field of Release as it stands, whatever is in it, but those of its files and its age', () => {
    const commands = mendingCommands(['release-without-hashes'], record, false);
    const stale =
      'Date: Mon, 01 Jun 2020 10:00:00 +0000\nValid-Until: Tue, 02 Jun 2020 10:00:00 +0000\nMD5sum:\n bb 2 Packages\n' +
      'SHA1:\ncc 3 Packages\nno field\n \t\n\nSHA256 :\n dd 4 Packages';
    const written = `${fields.slice(0, -1)}\n${stale}`;
    expect(releaseMended({ Release: written }, commands)).toBe(fields);
    const read = parseRelease(Buffer.from(releaseMended({ Release: written }, commands)));
    expect(read).toMatchObject({ origin: "Ada's; rm -rf ~ $(x) `y`", label: '"Other"', codename: 'ios' });
  });

  it('take them from the signed text where that was read, and not from its signature', () => {
    const signed =
      `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n${fields}Date: x\n` +
      '-----BEGIN PGP SIGNATURE-----\nVersion: GnuPG v2\n\nabcd\n-----END PGP SIGNATURE-----\n';
    const commands = mendingCommands(
      ['release-weak-hashes'],
      { ...record, origin_release_path: '/sub/InRelease' },
      false,
    );
    expect(releaseMended({ InRelease: signed }, commands)).toBe(fields);
  });

  it('write Release from the signed text before they sign it, where that was read: there may be no Release', () => {
    const inRelease = { ...record, origin_release_path: '/InRelease' };
    for (const code of ['signature-expired', 'inrelease-unsigned'] as const) {
      const [release = '', sign, ...others] = mendingCommands([code], inRelease, true);
      expect(sign).toMatch(/^gpg .* -o InRelease Release /);
      expect(others).toEqual([]);
      expect(releaseMended({ InRelease: `${fields}Date: x\n` }, [release])).toBe(fields);
    }
    expect(mendEach(['release-expired', 'signature-expired'], inRelease, true)).toMatchObject([
      { isAbove: false },
      { commands: [], isAbove: true },
    ]);
  });

  it('leave the former index in no compression', () => {
    const around = mkdtempSync(path.join(folder, 'index-'));
    const [tools, inside] = [path.join(around, 'tools'), path.join(around, 'repository')];
    for (const one of [tools, inside]) mkdirSync(one);
    const tool = (name: string, does: string) =>
      writeFileSync(path.join(tools, name), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
    tool('dpkg-scanpackages', 'echo new');
    for (const [name, ending] of Object.entries({ gzip: 'gz', bzip2: 'bz2', xz: 'xz' })) {
      tool(name, `[ "$*" = '-9kf Packages' ] && cp Packages Packages.${ending}`);
    }
    const nameOf = (compression: string) => (compression === 'plain' ? 'Packages' : `Packages.${compression}`);
    for (const compression of compressions) writeFileSync(path.join(inside, nameOf(compression)), 'old\n');
    const [command = ''] = mendingCommands(['index-corrupt'], record, false);
    execFileSync('sh', ['-e', '-c', command], {
      cwd: inside,
      env: { ...process.env, PATH: `${tools}:${process.env.PATH}` },
    });
    const left = readdirSync(inside).map((name) => [name, readFileSync(path.join(inside, name), 'utf8')]);
    expect(left.sort()).toEqual(
      ['Packages', 'Packages.bz2', 'Packages.gz', 'Packages.xz'].map((name) => [name, 'new\n']),
    );
  });

  it('write a Release of sums alone where there never was one, and none in the place of one that is gone', () => {
    expect(releaseMended({}, mendingCommands(['release-missing'], { suite: './' }, false))).toBe('');
    expect(mendingCommands(['release-missing', 'release-without-hashes'], record, true)).toEqual([]);
    expect(mendingCommands(['release-empty', 'index-corrupt'], record, true)).toEqual([
      expect.stringMatching(/^dpkg-scanpackages /),
    ]);
  });
});

describe('the status page', () => {
  const finding = (code: 'release-without-hashes' | 'package-missing' | 'size-missing', count = 1) => ({
    code,
    count,
    example: '',
  });

  it('tells each finding once, with the repositories that have it, the gravest first', () => {
    const repositories = [
      { slug: 'a', name: 'A', findings: [finding('release-without-hashes'), finding('size-missing', 3)] },
      { slug: 'b', name: 'B', findings: [finding('release-without-hashes')] },
      { slug: 'c', name: 'C', findings: [finding('package-missing')] },
    ];
    const gathered = gatherFindings(repositories);
    expect(
      gathered.map(({ code, count, repositories: those }) => [code, count, those.map(({ slug }) => slug)]),
    ).toEqual([
      ['package-missing', 1, ['c']],
      ['release-without-hashes', 2, ['a', 'b']],
      ['size-missing', 3, ['a']],
    ]);
    expect([...codesOfMost(gathered, 3)]).toEqual(['release-without-hashes']);
    // What keeps packages from people is to mend in each that has it.
    expect([...codesOfMost(gathered, 1)]).not.toContain('package-missing');
  });

  it('names the first sixty repositories that have a finding, and says how many have it', () => {
    const all = Array.from({ length: 100 }, (_, number) => ({
      slug: `r${number}`,
      name: `R ${number}`,
      findings: [finding('release-without-hashes')],
    }));
    const gathered = gatherFindings(all);
    const named = all.slice(0, 60).map(({ slug, name }) => ({ slug, name }));
    expect(gathered).toMatchObject([{ count: 100, spread: 100, repositories: named }]);
    expect([...codesOfMost(gathered, 150)]).toEqual(['release-without-hashes']);
  });

  it('names fewer for each of many findings, as many as there is room for, and one in any case', () => {
    const codes = Object.keys(findingTexts) as FindingCode[];
    const having = (repositories: number, from: number, to: number) => {
      const findings = codes.slice(from, to).map((code) => ({ code, count: 1, example: '' }));
      return Array.from({ length: repositories }, (_, number) => ({ slug: `${from} ${number}`, name: '', findings }));
    };
    const namedOf = (repositories: ReturnType<typeof having>) =>
      [...new Set(gatherFindings(repositories).map(({ repositories: named }) => named.length))].sort((a, b) => b - a);
    expect(namedOf(having(100, 0, 3))).toEqual([60]);
    expect(namedOf(having(100, 0, 8))).toEqual([25]);
    expect(namedOf(having(100, 0, codes.length))).toEqual([1]);
    // What few have leaves its room to others.
    expect(namedOf([...having(100, 0, 3), ...having(1, 3, 53)])).toEqual([50, 1]);
  });

  it('draws how the index grew', () => {
    const chart = computeGrowth([
      { day: '2026-01-01', packages: 100 },
      { day: '2026-01-03', packages: 108 },
      { day: '2026-01-04', packages: 107 },
    ]);
    expect(chart?.points).toEqual([
      [0, 100],
      [2, 108],
      [3, 107],
    ]);
    expect(chart?.text).toBe('107 packages on 4 Jan 2026, 7 more than on 1 Jan 2026.');
    expect(computeGrowth([{ day: '2026-01-01', packages: 5 }])).toBeUndefined();
    const least = [1, 1].map((packages, index) => ({ day: `2026-01-0${index + 1}`, packages }));
    expect(computeGrowth(least)?.text).toBe('1 package on 2 Jan 2026, as many as on 1 Jan 2026.');
  });

  it('draws a change of a few packages as a small one, and a change of a twentieth with most of the height', () => {
    const heightOf = (before: number, after: number): number => {
      const days = [before, after].map((packages, index) => ({ day: `2026-01-0${index + 1}`, packages }));
      const { bottom = 0, top = 0 } = computeGrowth(days) ?? {};
      expect(bottom).toBeLessThan(Math.min(before, after));
      expect(top).toBeGreaterThan(Math.max(before, after));
      return Math.abs(after - before) / (top - bottom);
    };
    expect(heightOf(1436, 1430)).toBeLessThan(0.1);
    expect(heightOf(60_000, 60_600)).toBeGreaterThan(0.1);
    expect(heightOf(1000, 1060)).toBeGreaterThan(0.7);
    expect(heightOf(1, 400)).toBeGreaterThan(0.7);
  });

  it('reads growth from folded days and single builds that tell of it, and from no text of a stranger', () => {
    const counts = { fresh: 0, unchanged: 1, stale: 0, failed: 0, unvisited: 0 };
    const packages = { added: 3, updated: 0, removed: 1 };
    const build = { ended: 'published', repositories: counts, packages, rest: 'unchanged' };
    const lines = [
      { format: 1, day: '2025-12-31', builds: 24, unpublished: 0, repositories: counts, packages, down: {} },
      { format: 1, day: '2026-01-01', total: 7, builds: 24, unpublished: 0, repositories: counts, packages, down: {} },
      { format: 1, at: '2026-01-02T01:00:00.000Z', total: 8, ...build },
      { format: 1, at: '2026-01-02T02:00:00.000Z', total: 9, ...build },
      {
        format: 1,
        at: '2026-01-02T03:00:00.000Z',
        ...build,
        ended: 'failed',
        reason: '"total":999,',
        stale: ['total'],
      },
    ];
    writeFileSync(
      path.join(folder, 'builds.jsonl'),
      `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"format":1,"at":"2026`,
    );
    expect(readGrowth(folder)).toEqual([
      { day: '2026-01-01', packages: 7 },
      { day: '2026-01-02', packages: 9 },
    ]);
    expect(readGrowth(path.join(folder, 'nowhere'))).toEqual([]);
  });

  it('does not take the day of the first crawl for the day of a change', () => {
    const addedAt = '2026-05-01T12:00:00.000Z';
    expect(formatChange({ addedAt, changedAt: '2026-05-01T11:58:00.000Z' })).toBe('before 1 May 2026');
    expect(formatChange({ addedAt, changedAt: '2020-02-03T11:58:00.000Z' })).toBe('3 Feb 2020');
    expect(formatChange({ addedAt, changedAt: '2026-05-09T11:58:00.000Z' })).toBe('9 May 2026');
  });
});

describe('what the doctor says', () => {
  const finding = {
    code: 'release-missing',
    weight: 'broken',
    title: 't',
    count: 1,
    for_operator: 'o',
    for_owner: 'w',
    since: null,
  } as const;
  const repository = { suite: './' };
  const signature = { state: 'unsigned', text: 'The repository is not signed.', signers: [] } as const;
  const record = { repository_id: 'one', failure: null, signature: { ...signature, signers: [] }, findings: [] };

  it('C4: is one verdict, what keeps it from use first, then the gravest, and each with the commands that mend it', () => {
    expect(diagnose(record, 1, repository)).toMatchObject({
      standing: 'usable',
      verdict: 'The repository can be used: 1 package.',
      findings: [],
    });
    for (const code of ['relation-malformed', 'inrelease-error'] as const) {
      expect(diagnose({ ...record, findings: [{ ...finding, code }] }, 2, repository)).toMatchObject({
        standing: 'refused',
        verdict: 'This index can read the repository: 2 packages. APT refuses it.',
      });
    }
    const gone = { ...finding, code: 'index-gone' } as const;
    expect(diagnose({ ...record, findings: [gone] }, 1, repository)).toMatchObject({
      standing: 'unusable',
      verdict: 'The repository cannot be used.',
      findings: [{ isEarlier: false }],
    });
    const refused = { ...gone, for_operator: 'stays: status 403 for /Packages.xz; status 403 for /Packages.' };
    const missing = { ...gone, for_operator: 'stays: status 404 for /Packages.xz; status 410 for /Packages.' };
    for (const [one, commands] of [[refused, 0] as const, [missing, 2] as const]) {
      const [{ mending } = {}] = diagnose({ ...record, findings: [one] }, 1, repository).findings;
      expect(mending?.commands).toHaveLength(commands);
    }
    const weak = { ...finding, code: 'release-weak-hashes', weight: 'weak' } as const;
    const note = { ...finding, code: 'icon-malformed', weight: 'note' } as const;
    const grave = { ...finding, code: 'index-corrupt' } as const;
    const shrunken = { ...finding, code: 'index-shrunken' } as const;
    const broken = diagnose({ ...record, failure: shrunken, findings: [note, weak, grave] }, 0, repository);
    expect(broken).toMatchObject({ standing: 'unusable', verdict: 'The repository cannot be used.' });
    const none = { commands: [], isAbove: false };
    expect(broken.findings).toEqual([
      { ...shrunken, isEarlier: false, mending: none },
      { ...grave, isEarlier: true, mending: { ...none, commands: [expect.any(String), expect.any(String)] } },
      { ...weak, isEarlier: true, mending: { ...none, isAbove: true } },
      { ...note, isEarlier: true, mending: none },
    ]);
    const read = diagnose({ ...record, findings: [weak] }, 1, repository);
    expect(read.findings.map(({ isEarlier }) => isEarlier)).toEqual([false]);
  });

  it('C11: is asked for by a command in which an address is one word of a shell', () => {
    expect(doctorCommand({ uri: 'https://a.example/r' })).toBe('npm run doctor -- https://a.example/r');
    expect(doctorCommand({ uri: "https://a.example/$(x);'&", suite: 'a b', component: 'main', binary: 'all' })).toBe(
      "npm run doctor -- 'https://a.example/$(x);'\\''&' --suite 'a b' --component main --binary all",
    );
  });

  it('C11: is asked for by a command that may ask it, where its address is in a private network', () => {
    const flag = ' --allow-private-networks';
    const hosts = [
      ...[
        '127.0.0.1:8080',
        '10.1.2.3',
        '172.31.0.1',
        '100.64.0.1',
        '192.168.0.1',
        '169.254.1.1',
        '[::1]:81',
        '[fd00::1]',
        '[fe80::1]',
      ],
      ...['localhost', 'LOCALHOST.', 'nas', 'repo.local', 'repo.home.arpa', 'repo.internal', '0x7f.1'],
    ];
    for (const host of hosts) expect(doctorCommand({ uri: `http://${host}/` }), host).toContain(flag);
    const others = [
      '172.32.0.1',
      '100.128.0.1',
      '11.0.0.1',
      '[2606:4700::1]',
      'local.example.org',
      '10.example.org',
      'fd.example.org',
    ];
    for (const host of others) expect(doctorCommand({ uri: `http://${host}/` }), host).not.toContain(flag);
    expect(doctorCommand({ uri: 'https://a.example/', suite: 'b' }, true)).toBe(
      'npm run doctor -- https://a.example/ --allow-private-networks --suite b',
    );
  });
});

it('what vanished is told from the change lists and from what is about to be published, the latest first', () => {
  const changes = path.join(folder, 'v2', 'changes');
  mkdirSync(changes, { recursive: true });
  const removed = (id: string, repository = 'a', change = 'removed') => ({
    package_id: id,
    repository,
    change,
    version: null,
    previous_version: '1.0',
  });
  writeFileSync(path.join(changes, '9.json'), JSON.stringify({ packages: [removed('old'), removed('twice')] }));
  writeFileSync(
    path.join(changes, '10.json'),
    JSON.stringify({ packages: [removed('newer'), removed('x', 'b'), removed('no', 'a', 'added')] }),
  );
  writeFileSync(path.join(changes, '8.json'), '{"packages":');
  const many = Array.from({ length: 60 }, (_, index) => removed(`p${index}`, 'many'));
  writeFileSync(path.join(changes, '7.json'), JSON.stringify({ packages: many }));
  const pending = [removed('twice'), removed('__proto__', '__proto__')] as Parameters<typeof readVanished>[1];
  const vanished = readVanished(folder, pending);
  expect(vanished.a?.map(({ id }) => id)).toEqual(['twice', 'newer', 'old']);
  expect(vanished.b).toEqual([{ id: 'x', version: '1.0' }]);
  expect(Object.keys(vanished)).toContain('__proto__');
  // One more than is shown.
  expect(vanished.many).toHaveLength(25);
});
