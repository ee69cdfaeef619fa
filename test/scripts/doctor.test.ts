import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chooseNearest, composeEntry, findAsked, readListed } from '../../scripts/doctor-manifest.ts';
import { manifestEntrySchema } from '../../src/contract/manifest.ts';
import { findingsRecordSchema } from '../../src/contract/records.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { temporaryFolder } from '../support/folder.ts';
import { OriginServer } from '../support/origin-server.ts';
import { runScript } from '../support/run-script.ts';
import { createSigner, signRepository } from '../support/signer.ts';

let origin: OriginServer;

beforeAll(async () => {
  origin = await OriginServer.start();
});
afterAll(() => origin.stop());

const doctorOfProject = async (...flags: string[]) => {
  const { status, out, error } = await runScript('doctor', ['--allow-private-networks', ...flags]);
  return { status, stdout: out, stderr: error };
};

/** A manifest without an entry: to read that of the project is half of the time of each. */
const empty = mkdtempSync(path.join(tmpdir(), 'debdex-empty-'));
mkdirSync(path.join(empty, 'repositories'));
writeFileSync(path.join(empty, 'service.yaml'), readFileSync('data/service.yaml'));
afterAll(() => rmSync(empty, { recursive: true, force: true }));

const doctor = (...flags: string[]) =>
  doctorOfProject(...(flags.includes('--data') ? [] : ['--data', empty]), ...flags);

describe('what an origin offers', () => {
  const offer = (suite: string, component: string, binary: string) => ({
    uri: 'https://a.example/',
    suite,
    component,
    binary,
  });

  it('C8: is chosen by suite, then by component, then by architecture, that of newer devices first', () => {
    const asked = offer('stable', 'main', 'arm');
    const byDistance = [
      offer('stable', 'main', 'arm'),
      offer('stable', 'main', 'iphoneos-arm64'),
      offer('stable', 'main', 'iphoneos-arm'),
      offer('stable', 'main', 'amd64'),
      offer('stable', 'extra', 'arm'),
      offer('beta', 'main', 'arm'),
    ];
    for (const [from, nearest] of byDistance.entries()) {
      expect(chooseNearest(asked, byDistance.slice(from).toReversed()), nearest.binary).toEqual(nearest);
    }
    expect(chooseNearest(asked, [])).toBeUndefined();
  });

  it('C5: is written with the key that it was verified with', () => {
    const key = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME\n-----END PGP PUBLIC KEY BLOCK-----\n';
    const text = composeEntry({ ...offer('stable', 'main', 'arm'), key }, 'there');
    expect(manifestEntrySchema.parse(parse(text.slice(text.indexOf('\n\n')))).key?.trim()).toBe(key.trim());
  });

  it('is written under a slug that its host gives, whatever that is', () => {
    const slugOf = (host: string) => {
      const text = composeEntry({ uri: `https://${host}/`, suite: './' }, 'there');
      const { slug } = manifestEntrySchema.parse(parse(text.slice(text.indexOf('\n\n'))));
      expect(text).toContain(`as ${path.join('there', `${slug}.yaml`)} (`);
      return slug;
    };
    expect(slugOf('www.repo.example')).toBe('repo-example');
    expect(slugOf('www2.repo.example')).toBe('www2-repo-example');
    // Where it is cut there would be a hyphen at its end.
    expect(slugOf(`${'a'.repeat(63)}.example`)).toBe('a'.repeat(63));
    expect(slugOf(`${'a'.repeat(60)}.repo.example`)).toBe(`${'a'.repeat(60)}-rep`);
    expect(slugOf('[::]')).toBe('repository');
  });
});

it('asks an index with what its own entry says, not with what another at its address does', async () => {
  const folder = temporaryFolder();
  const { publicKey } = await createSigner();
  const uri = 'https://a.example/';
  const write = (slug: string, fields: object) =>
    writeFileSync(path.join(folder, `${slug}.json`), JSON.stringify({ slug, uri, ranking: 2, ...fields }));
  write('a', { headers: { 'X-Of': 'a' }, key: publicKey });
  write('b', { suite: 'beta', component: 'main', binary: 'iphoneos-arm', headers: { 'X-Of': 'b' } });
  write('c', { suite: 'bare', component: 'main', binary: 'iphoneos-arm' });
  const { entries } = await readListed(folder);
  const ask = (suite: string) => findAsked(entries, { uri, suite, component: 'main', binary: 'iphoneos-arm' });
  expect(ask('beta')).toEqual({ headers: { 'X-Of': 'b' } });
  expect(ask('bare')).toEqual({});
  expect(ask('unlisted')).toEqual({ headers: { 'X-Of': 'a' } });
});

describe('npm run doctor', () => {
  it('C6: asks nothing of a private network unless told to', async () => {
    const asked = origin.requests.length;
    const { status, out } = await runScript('doctor', [origin.uri('inside')]);
    expect([status, out]).toEqual([1, expect.stringContaining('--allow-private-networks')]);
    expect(origin.requests.length).toBe(asked);
  });

  it('finds nothing wrong with a whole repository, and leaves nothing behind', async () => {
    const signer = await createSigner();
    origin.serve('good', await signRepository(await generateRepository(), signer));
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('debdex-doctor-'));
    const { status, stdout } = await doctor(origin.uri('good'));
    expect(stdout).toContain('can be used: 3 packages.');
    expect(stdout).toContain('Its key is not known here');
    expect(stdout).toContain(signer.fingerprint);
    expect(stdout).toContain('Nothing is wrong with it.');
    expect(status).toBe(0);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('debdex-doctor-'))).toEqual(before);
  });

  it('says of an address that the safety list names why, and not what to write into the manifest', async () => {
    origin.serve('trap', await generateRepository());
    const data = temporaryFolder();
    writeFileSync(path.join(data, 'service.yaml'), readFileSync('data/service.yaml'));
    const entry = 'reason: It was taken over.\n  date: 2026-11-20\n  source: https://a.example/';
    const listed = (place: string) =>
      writeFileSync(path.join(data, 'safety.yaml'), `- host: 127.0.0.1\n  path: ${place}\n  ${entry}\n`);
    listed(new URL(origin.uri('trap')).pathname);
    const { status, stdout } = await doctor(origin.uri('trap'), '--data', data);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^The safety list calls it unsafe to add: It was taken over\.\nThis index can read the repository: 3 packages\./,
    );
    expect(stdout).toContain('Nothing else is wrong with it.');
    expect(stdout).not.toMatch(/ranking:|can be used/);
    listed('/elsewhere');
    const safe = await doctor(origin.uri('trap'), '--data', data);
    expect(safe.stdout).toMatch(/^The repository can be used: 3 packages\..*ranking:/s);
    listed(new URL(origin.uri('trap')).pathname);
    for (const file of ['Release', 'Packages.gz', 'Packages'])
      origin.break(`/lure/${file}`, { kind: 'redirect', location: `${origin.uri('trap')}/${file}` });
    const lured = await doctor(origin.uri('lure'), '--data', data);
    expect(lured.stdout).toMatch(
      /^The safety list calls http:\S+\/trap\/Release, where it redirects to, unsafe to add: It was taken over\.\n/,
    );
    expect(lured.stdout).not.toMatch(/ranking:|can be used/);
    // What is named itself is said first, wherever else it leads.
    const own = `- host: 127.0.0.1\n  path: ${new URL(origin.uri('lure')).pathname}\n  ${entry}\n`;
    const target = readFileSync(path.join(data, 'safety.yaml'), 'utf8');
    writeFileSync(path.join(data, 'safety.yaml'), target + own);
    expect((await doctor(origin.uri('lure'), '--data', data)).stdout).toMatch(
      /^The safety list calls it unsafe to add/,
    );
    writeFileSync(path.join(data, 'safety.yaml'), target);
    // Its Release only changes the folder, as others change the scheme.
    origin.serve('own', await generateRepository());
    origin.break('/lure/Release', { kind: 'redirect', location: `${origin.uri('own')}/Release` });
    const hidden = await doctor(origin.uri('lure'), '--data', data);
    expect(hidden.stdout).toMatch(/^The safety list calls http:\S+\/trap\/Packages\S*, where it redirects to, unsafe/);
    // There is no Release at its address, and what the origin offers instead comes from there.
    const suite = { name: 'stable', component: 'main', architecture: 'iphoneos-arm64' };
    origin.serve('trap', await generateRepository({ suite }));
    const release = '/dists/stable/Release';
    origin.break(`/led${release}`, { kind: 'redirect', location: origin.uri('trap') + release });
    const led = await doctor(origin.uri('led'), '--data', data);
    expect(led).toMatchObject({ status: 1, stdout: expect.stringContaining('[broken] There is no Release') });
    expect(led.stdout).toMatch(
      /^The safety list calls http:\S+\/trap\/dists\/stable\/Release, where it redirects to, unsafe/,
    );
    expect(led.stdout).not.toMatch(/ranking:|The origin offers/);
  });

  it('tells operator and owner what is wrong, and by its exit code whether that costs packages', async () => {
    origin.serve('weak', await generateRepository({ hashes: ['md5'] }));
    const weak = await doctor(origin.uri('weak'));
    expect(weak).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('[weak] Release lists only weak hashes\n'),
    });
    expect(weak.stdout).toMatch(
      /To mend it: List SHA256 hashes.*\n {2}In the folder that holds .*:\n {4}awk .* apt-ftparchive/,
    );
    const broken = { Package: 'com.example.broken', Version: '1' };
    const packages = [...makePackages(1), broken, { ...broken, Version: '2' }];
    origin.serve('broken', await generateRepository({ packages }));
    expect(await doctor(origin.uri('broken'))).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('[broken] A package has no architecture (2 times)\n'),
    });
    const none = await doctor(origin.uri('none'));
    expect(none).toMatchObject({ status: 1, stdout: expect.stringContaining('[broken] There is no Release') });
    // Where the origin has no other either, its owner makes one.
    expect(none.stdout).toMatch(/To mend it: Publish a Release .*:\n {4}apt-ftparchive /s);
    // In the folder of a suite the commands of a flat repository would write a wrong one.
    const suite = await doctor(origin.uri('none'), '--suite', 'stable', '--component', 'main', '--binary', 'a');
    expect(suite.stdout).toContain('To mend it: Publish a Release in the folder of the suite');
    expect(suite.stdout).not.toContain('In the folder that holds');
  });

  it('has the same commands once, for all findings that they mend', async () => {
    const release = { 'Valid-Until': 'Thu, 01 Jan 2026 00:00:00 UTC' };
    origin.serve('twofold', await generateRepository({ hashes: ['md5'], release }));
    const { stdout } = await doctor(origin.uri('twofold'));
    const findings = stdout.split('\n[').slice(1);
    expect(
      findings.map((text) => [/apt-ftparchive release/.test(text), /\n {2}The commands .* above mend/.test(text)]),
    ).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it('names the folder of the manifest that is given, and the file that has the address already', async () => {
    origin.serve('listed', await generateRepository());
    const data = temporaryFolder();
    const folder = path.join(data, 'repositories');
    mkdirSync(folder);
    const service = readFileSync('data/service.yaml', 'utf8').replace(
      /^contact_email: .*$/m,
      'contact_email: me@a.test',
    );
    writeFileSync(path.join(data, 'service.yaml'), service);
    const uri = origin.uri('listed');
    expect((await doctor(uri, '--data', data)).stdout).toContain(
      `Write into the manifest, as ${path.join(folder, '127-0-0-1.yaml')} (`,
    );
    // Whom its owner may write to is whoever asked.
    expect(origin.requests.at(-1)?.headers['user-agent']).toContain('(+me@a.test)');
    writeFileSync(path.join(folder, 'mine.yaml'), `slug: mine\nuri: ${uri}\nranking: 2\n`);
    const { stdout } = await doctor(uri, '--data', data);
    expect(stdout).toContain(`The manifest has it already, in ${path.join(folder, 'mine.yaml')}.\n`);
    expect(stdout).not.toContain('Write into the manifest');
  });

  it('says which entries of the manifest have mistakes, and does without those only', async () => {
    origin.serve('mistaken', await generateRepository());
    const data = temporaryFolder();
    const folder = path.join(data, 'repositories');
    mkdirSync(folder);
    writeFileSync(path.join(data, 'service.yaml'), readFileSync('data/service.yaml'));
    const uri = origin.uri('mistaken');
    writeFileSync(path.join(folder, 'mine.yaml'), `slug: mine\nuri: ${uri}\nranking: 2\nheaders: { X-Machine: a }\n`);
    expect((await doctor(uri, '--data', data)).stderr).toBe('');
    writeFileSync(path.join(folder, 'bad.yaml'), `slug: bad\nuri: ${uri}/bad\nranking: 9\nraking: 1\n`);
    // The address of another entry: what is refused is the one that comes later.
    writeFileSync(path.join(folder, 'twice.yaml'), `slug: twice\nuri: ${uri}\nranking: 2\nheaders: { X-Machine: b }\n`);
    origin.reset();
    const { status, stdout, stderr } = await doctor(uri, '--data', data);
    const bad = path.join(folder, 'bad.yaml');
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^The manifest has mistakes\./),
      expect.stringMatching(new RegExp(`^${bad}: ranking: must be`)),
      `${bad}: raking: is no field of a manifest entry`,
      expect.stringMatching(new RegExp(`^${path.join(folder, 'twice.yaml')}: uri: has the address.* of mine `)),
      '',
    ]);
    expect(new Set(origin.requests.map(({ headers }) => headers['x-machine']))).toEqual(new Set(['a']));
    expect(stdout).toContain(`The manifest has it already, in ${path.join(folder, 'mine.yaml')}.\n`);
    expect(status).toBe(0);
    for (const name of readdirSync(folder)) rmSync(path.join(folder, name));
    // A manifest that is yet to be written has no mistake.
    expect((await doctor(uri, '--data', data)).stderr).toBe('');
  });

  it('sends the headers that the manifest has for the address, and to no other', async () => {
    origin.serve('headed', await generateRepository());
    const folder = path.join(temporaryFolder(), 'repositories');
    mkdirSync(folder);
    const uri = origin.uri('headed');
    writeFileSync(
      path.join(folder, 'headed.yaml'),
      `slug: headed\nuri: ${uri}/\nranking: 2\nheaders:\n  X-Machine: iPhone10,6\n`,
    );
    const sent = async (...flags: string[]) => {
      origin.reset();
      await doctor(...flags, '--data', path.dirname(folder));
      return new Set(origin.requests.map(({ headers }) => headers['x-machine']));
    };
    writeFileSync(path.join(folder, '..', 'service.yaml'), readFileSync('data/service.yaml'));
    expect(await sent(uri)).toEqual(new Set(['iPhone10,6']));
    expect(await sent(uri, '--suite', 'stable', '--component', 'main', '--binary', 'iphoneos-arm')).toEqual(
      new Set(['iPhone10,6']),
    );
    expect(await sent(origin.uri('listed'))).toEqual(new Set([undefined]));
  });

  it('says that an entry at an address whose other entry has headers needs them too, and prints no value of theirs', async () => {
    origin.serve('headed', await generateRepository());
    const data = temporaryFolder();
    mkdirSync(path.join(data, 'repositories'));
    writeFileSync(path.join(data, 'service.yaml'), readFileSync('data/service.yaml'));
    const uri = origin.uri('headed');
    const other = { suite: 'beta', component: 'main', binary: 'iphoneos-arm', headers: { 'X-Token': 'secret' } };
    writeFileSync(
      path.join(data, 'repositories', 'other.json'),
      JSON.stringify({ slug: 'other', uri, ranking: 2, ...other }),
    );
    const { stdout } = await doctor(uri, '--data', data);
    expect(stdout).toMatch(
      /Write into the manifest.*headers of another entry .* \(X-Token\): copy them into this one\.\n$/s,
    );
    expect(stdout).not.toContain('secret');
  });

  it('C5: verifies with the key that the manifest has for the address, as a build does', async () => {
    const [signer, other] = [await createSigner(), await createSigner()];
    origin.serve('keyed', await signRepository(await generateRepository(), signer));
    const folder = path.join(temporaryFolder(), 'repositories');
    mkdirSync(folder);
    const uri = origin.uri('keyed');
    const write = (key: string) =>
      writeFileSync(path.join(folder, 'keyed.json'), JSON.stringify({ slug: 'keyed', uri, ranking: 2, key }));
    writeFileSync(path.join(folder, '..', 'service.yaml'), readFileSync('data/service.yaml'));
    const ask = (...flags: string[]) => doctor(uri, '--data', path.dirname(folder), ...flags);
    write(signer.publicKey);
    expect((await ask()).stdout).toContain('verified');
    write(other.publicKey);
    const refused = await ask();
    expect(refused).toMatchObject({ status: 1, stdout: expect.stringContaining('is signed by a different key') });
    expect(refused.stdout).toContain(`/InRelease is signed by ${signer.fingerprint}. `);
    const file = path.join(temporaryFolder(), 'key.asc');
    writeFileSync(file, signer.publicKey);
    expect((await ask('--key', file)).stdout).toContain('verified');
    // A build verifies what is offered with it, too.
    const place = ['--component', 'main', '--binary', 'iphoneos-arm64'];
    const { stdout } = await doctor(uri, '--suite', 'stable', ...place, '--key', file);
    expect(stdout).toContain('is a flat repository: no suite');
    expect(parse(stdout.slice(stdout.indexOf('\nslug:')))).toMatchObject({ key: signer.publicKey });
  });

  it('C9: has no terminal turn around or obey what an origin wrote', async () => {
    const packages = [{ Package: 'com.example.turned', Version: '1\u202e2\u0007', Architecture: 'iphoneos-arm' }];
    origin.serve('turned', await generateRepository({ packages }));
    for (const flags of [[], ['--json']]) {
      const { stdout } = await doctor(origin.uri('turned'), ...flags);
      expect(stdout).toContain('\\u202e');
      expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\u202a-\u202e]/u);
      if (flags.length > 0) expect(findingsRecordSchema.safeParse(JSON.parse(stdout)).success).toBe(true);
    }
  });

  it('prints the findings document on request', async () => {
    origin.serve('weak', await generateRepository({ hashes: [] }));
    const { stdout } = await doctor(origin.uri('weak'), '--json');
    expect(findingsRecordSchema.parse(JSON.parse(stdout)).findings).toMatchObject([{ code: 'release-without-hashes' }]);
  });

  const suiteOf = (name: string, component: string, architecture: string, release = {}) =>
    generateRepository({ suite: { name, component, architecture }, release });

  const at = (name: string) => `${origin.uri(name)}/`;

  it('C8: names what else a suite offers, and what to write into the manifest', async () => {
    const files = await suiteOf('stable', 'main', 'iphoneos-arm');
    const other = await suiteOf('stable', 'extra', 'iphoneos-arm64');
    const [, lines = ''] = Buffer.from(other.get('/dists/stable/Release') ?? '')
      .toString()
      .split('SHA256:\n');
    // What an installer of Debian reads is no offer.
    const more = lines + lines.replaceAll(' extra/', ' main/debian-installer/');
    const release = Buffer.from(files.get('/dists/stable/Release') ?? '').toString() + more;
    origin.serve('suites', new Map([...files, ...other, ['/dists/stable/Release', Buffer.from(release)]]));
    const uri = at('suites');

    const wrong = await doctor(uri, '--suite', 'stable', '--component', 'main', '--binary', 'iphoneos-arm64');
    expect(wrong).toMatchObject({ status: 1, stdout: expect.stringContaining('The repository cannot be used.') });
    expect(wrong.stdout).toContain(
      `The origin offers:\n  ${uri} suite stable, component main: iphoneos-arm\n  ${uri} suite stable, component extra: iphoneos-arm64\nTo examine the nearest: npm run doctor -- ${uri} --allow-private-networks --suite stable --component main --binary iphoneos-arm\n`,
    );
    expect(wrong.stdout).toMatch(/suite: stable\ncomponent: main\nbinary: iphoneos-arm\nranking: 3\n$/);

    const right = await doctorOfProject(uri, '--suite', 'stable', '--component', 'main', '--binary', 'iphoneos-arm');
    expect(right.stdout).toContain('can be used: 3 packages.');
    expect(right.stdout).toContain(`The origin also offers:\n  ${uri} suite stable, component extra: iphoneos-arm64\n`);
    const [, written = ''] = right.stdout.split(/as data\/repositories\/127-0-0-1\.yaml .+:\n\n/);
    const entry = { slug: '127-0-0-1', uri, suite: 'stable', component: 'main', binary: 'iphoneos-arm', ranking: 3 };
    expect(parse(written)).toEqual(entry);
    expect(manifestEntrySchema.parse(parse(written))).toMatchObject(entry);
  });

  it('C8: finds suites that the server lists, that are usual, and that stand in the address', async () => {
    origin.serve('listed', await suiteOf('fancy', 'main', 'iphoneos-arm64'));
    const page = '<!doctype html><a href="../">up</a><a href="fancy/">fancy</a><a href="x\u001b[2J/">x</a>';
    origin.break('/listed/dists/', { kind: 'body', body: page });
    const listed = await doctor(at('listed'));
    expect(listed.stdout).toContain('[broken] There is no Release');
    // What would write one here is not told: it belongs where the origin has its own.
    expect(listed.stdout).not.toContain('apt-ftparchive');
    const place = '--suite fancy --component main --binary iphoneos-arm64';
    expect(listed.stdout).toContain(
      `\nTo examine it: npm run doctor -- ${at('listed')} --allow-private-networks ${place}\n`,
    );
    expect(listed.stdout).toMatch(/suite: fancy\ncomponent: main\nbinary: iphoneos-arm64\n/);
    expect(listed.stdout).not.toContain('\u001b');
    // Also where the address names a suite that is not there.
    expect((await doctor(`${at('listed')}dists/gone`)).stdout).toContain(
      `\nTo examine it: npm run doctor -- ${at('listed')} --allow-private-networks ${place}\n`,
    );
    // No more is asked than what the server lists, and of that not everything.
    const many = Array.from({ length: 30 }, (_, index) => `<a href="s${index}/">`).join('');
    origin.break('/listed/dists/', { kind: 'body', body: `<!doctype html>${many}` });
    origin.reset();
    await doctor(at('listed'));
    const asked = new Set(origin.requests.map(({ path: file }) => /\/dists\/(.+)\/Release$/.exec(file)?.[1]));
    expect(asked).toEqual(new Set([undefined, ...Array.from({ length: 12 }, (_, index) => `s${index}`)]));

    origin.serve('usual', await suiteOf('1800', 'main', 'iphoneos-arm64'));
    const usual = await doctor(at('usual'));
    expect(usual.stdout).toMatch(/suite: "1800"\ncomponent: main\n/);

    const inside = await doctor(`${at('usual')}dists/1800/`);
    expect(inside.stdout).toContain(`uri: ${at('usual')}\nsuite: "1800"\n`);

    const bare = { hashes: [], release: { Architectures: 'all iphoneos-arm64 source' } };
    const suite = { name: 'ios', component: 'main', architecture: 'iphoneos-arm64' };
    origin.serve('bare', await generateRepository({ suite, ...bare }));
    expect((await doctor(at('bare'))).stdout).toContain(
      `The origin offers:\n  ${at('bare')} suite ios, component main: iphoneos-arm64\nTo examine it: `,
    );

    origin.serve('flat', await generateRepository());
    const flat = await doctor(at('flat'), '--suite', 'stable', '--component', 'main', '--binary', 'all');
    expect(flat.stdout).toContain(`${at('flat')} is a flat repository: no suite`);
    expect(flat.stdout).toContain(`\nTo examine it: npm run doctor -- ${at('flat')} --allow-private-networks\n`);
    expect(flat.stdout).toMatch(new RegExp(`uri: ${at('flat')}\\nranking: 3\\n$`));
  });

  it('C8: finds a suite that has InRelease alone, and none where answers are pages, say that there is nothing, or fail', async () => {
    const clear = await suiteOf('stable', 'main', 'iphoneos-arm64');
    const release = clear.get('/dists/stable/Release') ?? '';
    clear.delete('/dists/stable/Release');
    const signed = await (await createSigner()).clearSign(release);
    origin.serve('clear', clear.set('/dists/stable/InRelease', Buffer.from(signed)));
    expect((await doctor(at('clear'))).stdout).toContain('The origin offers:\n');
    // A flat repository, which one asks for a suite, has no list of its own, and anything could be taken for one.
    const offered = async (name: string) =>
      (await doctor(at(name), '--suite', 'stable', '--component', 'main', '--binary', 'all')).stdout;
    for (const [name, fault] of [
      ['page', { kind: 'body', body: '<!doctype html><title>Welcome</title>' }],
      ['words', { kind: 'status', status: 404, body: 'Label: nothing here\n' }],
      ['cut', { kind: 'reset' }],
    ] as const) {
      origin.serve(name, await suiteOf('other', 'main', 'all'));
      for (const file of ['Release', 'InRelease']) origin.break(`/${name}/${file}`, fault);
      const stdout = await offered(name);
      expect(stdout, name).toContain('[broken] There is no Release');
      expect(stdout, name).not.toContain('offers');
    }
    origin.serve('bare-flat', await generateRepository({ hashes: [] }));
    expect(await offered('bare-flat')).toContain('The origin offers:\n');
  });

  it('asks for no other suite where what was asked for can be used, answers programs, or never answered', async () => {
    const asked = async (name: string, ...flags: string[]) => {
      origin.reset();
      await doctor(at(name), ...flags);
      return origin.requests.map(({ path: place }) => place.slice(`/${name}/`.length));
    };
    origin.serve('usable', await generateRepository());
    const usable = await asked('usable');
    expect(usable.filter((place) => place === 'Release' || place.startsWith('dists/'))).toEqual(['Release', 'Release']);
    expect((await asked('usable', '--json')).filter((place) => place === 'Release')).toHaveLength(1);
    expect((await asked('none')).filter((place) => place.startsWith('dists/'))).not.toEqual([]);
    expect((await asked('none', '--json')).filter((place) => place.startsWith('dists/'))).toEqual([]);
    for (const file of ['Release', 'InRelease'])
      origin.break(`/odd/${file}`, { kind: 'redirect', location: 'ftp://a.example/' });
    expect((await asked('odd')).filter((place) => place.startsWith('dists/'))).toEqual([]);
  });

  it('C8: lists no more than forty indexes of a suite, and none that a manifest cannot name', async () => {
    const lines = (names: readonly string[]) =>
      names.map((name) => ` ${'0'.repeat(64)} 1 ${name}/binary-iphoneos-arm64/Packages\n`).join('');
    const many = Array.from({ length: 50 }, (_, index) => `c${index}`);
    const release = (names: readonly string[]) =>
      new Map([['/dists/stable/Release', Buffer.from(`Suite: stable\nSHA256:\n${lines(names)}`)]]);
    origin.serve('many', release(many));
    expect((await doctor(at('many'))).stdout.match(/, component c\d+: /g)).toHaveLength(40);
    // What is listed counts, where anything is.
    const sources = `Components: main\nArchitectures: iphoneos-arm64\nSHA256:\n ${'0'.repeat(64)} 1 main/source/Sources\n`;
    origin.serve('sources', new Map([['/dists/stable/Release', Buffer.from(sources)]]));
    expect((await doctor(at('sources'))).stdout).not.toContain('offers');
    origin.serve('odd-names', release(['main', '../up', 'a\u001b[2J']));
    const { stdout } = await doctor(at('odd-names'));
    expect(stdout).toMatch(/The origin offers:\n.* component main: iphoneos-arm64\nTo examine it/);
  });

  it('C11: counts packages and not their versions, as the page of the repository does', async () => {
    origin.serve('twice', await generateRepository({ packages: [...makePackages(3), ...makePackages(2, 'p', '2.0')] }));
    expect((await doctor(origin.uri('twice'))).stdout).toContain('The repository can be used: 3 packages.');
  });

  it('C8: says nothing of no index beside one that can be used', async () => {
    origin.serve('partly', await generateRepository({ compressions: ['xz', 'plain'] }));
    origin.break('/partly/Packages.xz', { kind: 'status', status: 404 });
    const { status, stdout } = await doctor(origin.uri('partly'));
    expect(stdout).toContain('The repository can be used: 3 packages.');
    expect(stdout).toContain('[weak] A listed file of the index is missing');
    expect(stdout).toContain('status 404 for /Packages.xz. Another file was used instead.');
    expect(stdout).not.toMatch(/There is no|any compression/);
    expect(status).toBe(0);
  });

  it.each([
    [[], /needs one URL/],
    [['ftp://a.example'], /URL must begin with https/],
    [['repo.a.example'], /URL must be an absolute URL, such as https:/],
    [['https://a.example', '--suite', 'stable'], /--component is required/],
    [['https://a.example', 'https://b.example'], /needs one URL/],
    [['https://a.example', '--key', '/nowhere'], /^--key: \/nowhere is not there\n/],
    [['https://a.example', '--key', '/'], /^--key: \/ is a folder\n/],
  ])('%j is bad usage', async (flags, message) => {
    expect(await doctor(...flags)).toMatchObject({ status: 2, stderr: expect.stringMatching(message) });
  });
});
