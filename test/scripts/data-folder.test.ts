import { generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { manifestOf, readService, safetyFileOf } from '../../scripts/read-service.ts';
import { warnOfLostSignature } from '../../scripts/read-signing-key.ts';
import { warnOfExample } from '../../scripts/warn-of-example.ts';
import { warnOfUnsafe, warnOfUnsafeTargets } from '../../scripts/warn-of-unsafe.ts';
import { FindingCounter } from '../../src/contract/findings.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { documentPath } from '../../src/contract/paths.ts';
import { sayRedirect } from '../../src/contract/redirected.ts';
import { isExampleAddress, isReachable } from '../../src/contract/service-file.ts';
import { createSigner } from '../../src/publication/signature.ts';
import { FileOrigin } from '../support/built-publication.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startReplicaServer } from '../support/replica-server.ts';
import { runScript } from '../support/run-script.ts';

vi.setConfig({ testTimeout: 60_000 });

const shipped = path.join(import.meta.dirname, '..', '..', 'data');
let folder: string;
let data: string;

beforeEach(() => {
  folder = temporaryFolder();
  data = path.join(folder, 'mine');
  mkdirSync(data);
  cpSync(path.join(shipped, 'safety.yaml'), path.join(data, 'safety.yaml'));
  writeService('ops@debdex.dev');
});

const writeService = (contact: string) =>
  writeFileSync(
    path.join(data, 'service.yaml'),
    `name: Mine\ncontact_email: ${contact}\ncopyright: Me\nprivacy_updated: "2026-11-22"\n`,
  );
const build = (...flags: string[]) =>
  runScript('build', ['--state', path.join(folder, 'state'), '--out', path.join(folder, 'out'), '--no-site', ...flags]);
const readLanding = () => JSON.parse(readFileSync(path.join(folder, 'out', documentPath.landing), 'utf8')).data;

describe('a data folder', () => {
  it('holds who runs the service, what is unsafe, and the manifest', async () => {
    expect((await build('--sample', '--data', data)).status).toBe(0);
    expect(readLanding()).toMatchObject({ info: { name: 'Mine' }, reference: { contact_email: 'ops@debdex.dev' } });
    const refused = await build('--data', data);
    expect(refused).toMatchObject({ status: 2, text: expect.stringContaining(path.join(data, 'repositories')) });
    rmSync(path.join(data, 'safety.yaml'));
    const serve = [
      '--out',
      path.join(folder, 'out'),
      '--state',
      path.join(folder, 'state'),
      '--port',
      '0',
      '--data',
      data,
    ];
    for (const ended of [await build('--sample', '--data', data, '--verify'), await runScript('serve', serve)]) {
      expect(ended).toMatchObject({ status: 2, text: expect.stringContaining(`There is no safety list ${data}`) });
    }
    expect(manifestOf({ data })).toBe(path.join(data, 'repositories'));
    expect(manifestOf({ data, manifest: 'mine.json' })).toBe('mine.json');
    expect(manifestOf({})).toBe(path.join('data', 'repositories'));
    writeFileSync(
      path.join(data, 'service.yaml'),
      'name: 5\ncontact_email: ops\ncopyright: ""\nprivacy_updated: "2026-1-5"\n',
    );
    expect(() => readService(data)).toThrow(
      /text: put it in quotes\s+→ at name\s+✖ must be a mail address\s.+\s✖ must not be empty\s.+\s✖ must be a day such as 2026-11-20/,
    );
    rmSync(path.join(data, 'service.yaml'));
    expect(await build('--data', data)).toMatchObject({
      status: 2,
      text: expect.stringContaining('copy data/service.yaml of the project there'),
    });
    mkdirSync(path.join(data, 'service.yaml'));
    expect(() => readService(data)).toThrow(/service\.yaml is a folder$/);
  });

  it('is warned of where its safety list names a repository of its manifest', async () => {
    const entry = { reason: 'It was taken over.', date: '2026-11-20', source: 'https://news.example/' };
    const unsafe = [
      { ...entry, host: 'bad.example' },
      { ...entry, host: 'shared.example', path: '/bad' },
    ];
    const uris = [
      'https://ok.example/',
      'http://repo.bad.example/',
      'https://shared.example/',
      'https://shared.example/bad/',
    ];
    const lines: string[] = [];
    const warn = (event: string, words: string) => lines.push(`${event}: ${words}`);
    const entries = uris.map((uri, number) => ({ slug: `r${number}`, uri }));
    warnOfUnsafe(entries, unsafe, { warn });
    expect(lines).toEqual([expect.stringMatching(/^unsafe-repository: .+ warn of it: r1, r3\. Take it out/)]);
    warnOfUnsafe(entries.slice(0, 1), unsafe, { warn });
    expect(lines).toHaveLength(1);
    const example = sayRedirect(new URL('https://a.example/Release'), new URL('http://repo.bad.example/Release'));
    const moved = entries.map((one) => ({ ...one, findings: [{ code: 'redirected' as const, count: 5, example }] }));
    warnOfUnsafeTargets(moved, unsafe, { warn });
    expect(lines[1]).toMatch(
      /^unsafe-redirect: .+: r0 to http:\/\/repo\.bad\.example\/Release, r2 to http:\/\/repo\.bad\.example\/Release\. Take/,
    );
    warnOfUnsafeTargets(
      entries.map((one) => ({ ...one, findings: [] })),
      unsafe,
      { warn },
    );
    expect(lines).toHaveLength(2);
    const counter = new FindingCounter();
    for (const host of ['ok.example', 'cdn.example', 'ok.example', 'bad.example'])
      counter.add(
        'redirected',
        sayRedirect(new URL('http://ok.example/Packages'), new URL(`https://${host}/Packages`)),
      );
    warnOfUnsafeTargets([{ slug: 'r0', uri: 'http://ok.example/', findings: counter.list() }], unsafe, { warn });
    expect(lines[2]).toContain(': r0 to https://bad.example/Packages. Take');
    const written =
      'host: localhost\n  path: /sample/papercut\n  reason: It was taken over.\n  date: 2026-11-20\n  source: https://a.example/';
    writeFileSync(path.join(data, 'safety.yaml'), `- ${written}\n`);
    const built = await build('--sample', '--data', data);
    expect(built).toMatchObject({ status: 0, error: expect.stringContaining('warn of it: papercut.') });
  });

  it('is told in our words what cannot be in the description of the service', () => {
    // "yes" is a text in YAML 1.2.
    writeService('ops@debdex.dev\nshare_pictures: yes\nnative_depictions: yes\npicture: 1');
    for (const words of [
      /✖ has fields that are none here: picture\n/,
      /✖ must be true or false, without quotes\s+→ at native_depictions\n/,
      /✖ must be some or all\s+→ at share_pictures$/,
    ]) {
      expect(() => readService(data)).toThrow(words);
    }
  });

  it('C6: must not name an address of examples where everybody can reach what is published', async () => {
    writeService('debdex@example.org');
    const refused = await build('--data', data, '--base-url', 'https://index.debdex.dev');
    expect(refused).toMatchObject({
      status: 2,
      text: expect.stringContaining('debdex@example.org, which reaches nobody'),
    });
    const inside = await build('--data', data, '--base-url', 'http://127.0.0.1:8080');
    expect(inside.text).not.toContain('reaches nobody');
    for (const base of [
      'http://localhost:1',
      'http://127.0.0.1',
      'http://[::1]:80',
      'https://a.test',
      'https://a.example.org',
    ])
      expect(isReachable(base), base).toBe(false);
    for (const base of ['https://example.dev', 'https://myexample.org', 'http://192.0.2.1', 'https://test.debdex.dev'])
      expect(isReachable(base), base).toBe(true);
    expect(isExampleAddress('a@EXAMPLE.org')).toBe(true);
    expect(isExampleAddress('example.org@debdex.dev')).toBe(false);
  });

  it('warns where a build without a key takes the signature off what is published', async () => {
    const out = path.join(folder, 'signed');
    const heard: string[] = [];
    const log = { warn: (_: string, message: string) => void heard.push(message) };
    warnOfLostSignature(out, undefined, log);
    mkdirSync(path.join(out, 'v2'), { recursive: true });
    writeFileSync(path.join(out, generationPath.signature), 'x');
    const { privateKey } = generateKeyPairSync('ed25519');
    warnOfLostSignature(out, await createSigner(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()), log);
    expect(heard).toEqual([]);
    warnOfLostSignature(out, undefined, log);
    expect(heard).toEqual([expect.stringContaining('DEBDEX_SIGNING_KEY')]);
  });

  it('warns of such an address where others can reach the server', async () => {
    writeService('debdex@example.org');
    const out = path.join(folder, 'out');
    await build('--sample', '--data', data);
    const heard: string[] = [];
    const log = { warn: (_: string, message: string) => void heard.push(message) };
    for (const host of ['127.0.0.1', 'localhost', '::1']) warnOfExample(host, out, log);
    warnOfExample('0.0.0.0', path.join(folder, 'nowhere'), log);
    expect(heard).toEqual([]);
    warnOfExample('0.0.0.0', out, log);
    warnOfExample('::', out, log);
    expect(heard).toEqual([expect.stringContaining('debdex@example.org'), expect.stringContaining('contact_email')]);
    const flags = ['--out', out, '--state', path.join(folder, 'nowhere'), '--host', '0.0.0.0', '--port', '0'];
    const served = await runScript('serve', flags);
    expect(served).toMatchObject({ status: 1, error: expect.stringContaining('example-address') });
    // A replica does not serve what a build left there; at a state that is no folder it ends.
    const place = ['--from', 'http://127.0.0.1:9', '--state', path.join(data, 'service.yaml')];
    const environment = { DEBDEX_OUT: out };
    const replica = await runScript('serve', [...place, '--host', '0.0.0.0', '--port', '0'], { environment });
    expect(replica).toMatchObject({ status: 1, error: expect.stringMatching(/^(?!.*example-address).*is no folder/s) });
  });

  it('warns where the list of a server calls safe what its build published as unsafe', async () => {
    const out = path.join(folder, 'out');
    const own = '\n- { host: bad.test, reason: Known to us alone., date: 2026-11-20, source: https://a.test/ }\n';
    writeFileSync(path.join(data, 'safety.yaml'), own, { flag: 'a' });
    await build('--sample', '--data', data);
    const origin = await new FileOrigin(out).open();
    onTestFinished(() => origin.close());
    // At a port that is taken, so that it ends.
    const flags = ['--out', out, '--state', path.join(folder, 'state'), '--port', new URL(origin.address).port];
    const served = await runScript('serve', flags);
    const sentence =
      /calls bad\.test safe, which is published as unsafe: .*safety\.yaml is another list than that of the build/;
    expect(served).toMatchObject({ status: 1, error: expect.stringMatching(sentence) });
    expect((await runScript('serve', [...flags, '--data', data])).error).not.toContain('other-safety-list');
    for (const [list, told] of [
      [safetyFileOf(data), []],
      [safetyFileOf(undefined), [expect.stringMatching(/calls bad\.test safe, .* Give the server the safety\.yaml/)]],
    ] as const) {
      const replica = await startReplicaServer(origin.address, { safetyList: list });
      await replica.until(1);
      const lines = replica.lines.filter(({ event }) => event === 'other-safety-list');
      expect(lines.map(({ message }) => message)).toEqual(told);
    }
  });
});
