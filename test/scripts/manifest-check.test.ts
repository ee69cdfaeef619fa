import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseEnding, describeTold, tellChecks } from '../../scripts/manifest/check-report.ts';
import { readService } from '../../scripts/read-service.ts';
import { lastBuildSchema, outcomesPath } from '../../src/catalog/last-build.ts';
import { generateRepository } from '../support/apt-repository.ts';
import { makeEntry } from '../support/crawling.ts';
import { temporaryFolder } from '../support/folder.ts';
import { OriginServer } from '../support/origin-server.ts';
import { patience } from '../support/patience.ts';
import { runScript } from '../support/run-script.ts';

type Before = Parameters<typeof tellChecks>[2];
type Checks = Parameters<typeof tellChecks>[1];

const none: Before = new Map();
const wasSigned = (slug: string, state: string): Before =>
  new Map([[slug, { slug, signing: { state } }]]) as unknown as Before;
const signed = { signers: ['ABCD'], fault: null };

describe('what a check tells', () => {
  const entries = [
    makeEntry('one', 'https://one.example/repo', { aliases: ['uno'] }),
    makeEntry('two', 'http://two.example', { key: 'a key' }),
  ];
  const tell = (check: object, before = none) =>
    tellChecks(entries, [{ slug: 'one', state: 'answers', signed: null, move: null, ...check }] as Checks, before).map(
      ({ text, todo }) => `${text} | ${todo}`,
    );

  it('says nothing of what is as it was', () => {
    expect(tell({})).toEqual([]);
    expect(tell({ signed })).toEqual([]);
    expect(tell({}, wasSigned('one', 'unsigned'))).toEqual([]);
    expect(tell({ state: 'offline', code: 'no-network', detail: '' })).toEqual([]);
  });

  it('C5: says what is signed otherwise than before', () => {
    expect(tell({}, wasSigned('one', 'signed'))).toEqual(['is not signed any more | null']);
    expect(tell({ signed }, wasSigned('one', 'unsigned'))[0]).toMatch(
      /^is signed now, by ABCD \| write the public key/,
    );
    expect(tell({ signed: { ...signed, fault: 'bad' } })[0]).toContain('does not fit');
    expect(tell({ slug: 'two' })[0]).toMatch(/^is not signed, and its entry names a key \| /);
    expect(tell({ slug: 'two', signed: { ...signed, fault: 'other-key' } })[0]).toContain('another key');
  });

  it('C5: says that a signature is back that was lost, and nothing of one that only was not answered', () => {
    expect(tell({ signed }, wasSigned('one', 'lost'))[0]).toMatch(/^is signed now, by ABCD \| write the public key/);
    expect(tell({}, wasSigned('one', 'lost'))).toEqual([]);
    expect(tell({}, wasSigned('one', 'unanswered'))).toEqual([]);
    // Of a key that no entry names nobody can be asked for a new one.
    expect(tell({ signed: { ...signed, fault: 'key-expired' } })[0]).toMatch(/ \| null$/);
    expect(tell({ slug: 'two', signed: { ...signed, fault: 'key-expired' } })[0]).toMatch(/ \| ask its owner/);
  });

  it('C9: has no terminal turn around or obey what an origin wrote', () => {
    const told = { slug: 'one', what: 'gone', text: 'is gone: \u001b[2J\u202e', todo: 'take \u0007 away' } as const;
    expect(describeTold(told)).toBe('one is gone: ?[2J?\n    take ? away\n');
    expect(describeTold({ ...told, todo: null })).toBe('one is gone: ?[2J?\n');
  });

  it('tells by how it ends that there is something to write, and that there was no network at all', () => {
    const [nothing, something] = [[{ todo: null }], [{ todo: null }, { todo: 'write' }]];
    expect(chooseEnding([{ state: 'unreachable' }, { state: 'offline' }], nothing)).toBe(0);
    expect(chooseEnding([{ state: 'gone' }, { state: 'offline' }], something)).toBe(1);
    expect(chooseEnding([{ state: 'offline' }, { state: 'offline' }], nothing)).toBe(5);
  });

  it('C1: has nobody write an address that anybody on the way could have made up', () => {
    const move = { uri: 'https://new.example/repo', isSecure: true };
    expect(tell({ move })).toEqual([
      'moved to https://new.example/repo | write into one.yaml: uri: https://new.example/repo',
    ]);
    // An entry that only changes its scheme is its own repository still.
    expect(tell({ slug: 'two', signed, move: { uri: 'https://two.example', isSecure: true } })).toEqual([
      'moved to https://two.example | write into two.yaml: uri: https://two.example',
    ]);
    expect(tell({ move: { ...move, isSecure: false } })[0]).toMatch(/could have said it.*make sure of it/);
    expect(tell({ move: { ...move, uri: 'https://TWO.example/' } })[0]).toContain(
      'take one.yaml away and write one, uno into the aliases of two.yaml',
    );
  });
});

it('C1: says of an address at another host that it would be sent the headers of the entry', () => {
  const headers = { 'X-Machine': 'iPhone10,1', 'X-Key': 'secret' };
  const entries = [makeEntry('one', 'http://one.example/repo', { headers })];
  const todoOf = (uri: string, isSecure = true) =>
    tellChecks(entries, [{ slug: 'one', state: 'answers', signed: null, move: { uri, isSecure } }], none)[0]?.todo;
  const words =
    '; without its headers (X-Machine, X-Key), unless new.example may know and needs them: it has answered without';
  expect(todoOf('https://new.example/repo')).toBe(`write into one.yaml: uri: https://new.example/repo${words}`);
  expect(todoOf('http://new.example/repo', false)).toBe(`make sure of it with its owner before you write that${words}`);
  expect(todoOf('https://one.example/repo')).toBe('write into one.yaml: uri: https://one.example/repo');
});

describe('npm run manifest -- check', () => {
  let origin: OriginServer;
  let folder: string;

  beforeAll(async () => {
    origin = await OriginServer.start();
    folder = mkdtempSync(path.join(tmpdir(), 'debdex-check-'));
    origin.serve('good', await generateRepository());
    for (const file of ['InRelease', 'Release', 'Release.gpg']) {
      origin.break(`/parked/${file}`, { kind: 'body', body: '<p>\u001b[2Jfor sale' });
    }
    for (const slug of ['good', 'parked']) {
      writeFileSync(path.join(folder, `${slug}.yaml`), `slug: ${slug}\nuri: ${origin.uri(slug)}\nranking: 3\n`);
    }
  });
  afterAll(async () => {
    await origin.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('says how private addresses are asked, where an entry names one', async () => {
    const flags = ['--manifest', folder, '--state', folder, '--only', 'good'];
    const { status, out } = await runScript('manifest', ['check', ...flags]);
    expect(status).toBe(0);
    expect(out).toContain('(ask again with --allow-private-networks if that is meant)\n');
  });

  const check = (...flags: string[]) =>
    runScript('manifest', ['check', '--manifest', folder, '--state', folder, '--allow-private-networks', ...flags]);

  it('has nobody write an address that the safety list names', async () => {
    const data = temporaryFolder();
    writeFileSync(path.join(data, 'service.yaml'), readFileSync('data/service.yaml'));
    const rest = 'reason: It was taken over.\n  date: 2026-11-20\n  source: https://a.example/';
    const write = (place: string) =>
      writeFileSync(path.join(data, 'safety.yaml'), `- host: 127.0.0.1\n${place}  ${rest}\n`);
    const list = path.join(temporaryFolder(), 'list.json');
    writeFileSync(list, JSON.stringify([{ slug: 'lure', uri: origin.uri('lure'), ranking: 3 }]));
    const location = `${origin.uri('good')}/Release`;
    origin.break('/lure/Release', { kind: 'redirect', location, status: 301 });
    const told = async (...flags: string[]) => (await check('--manifest', list, '--data', data, ...flags)).out;
    write(`  path: ${new URL(origin.uri('good')).pathname}\n`);
    expect(await told()).toContain(
      `lure redirects to ${origin.uri('good')}, which the safety list calls unsafe to add\n    take the entry of lure away, or add its address to the list\n`,
    );
    // The last build saw all files.
    origin.mend('/lure/Release');
    origin.serve('lure', await generateRepository());
    const at = '2026-11-20T00:00:00.000Z';
    const findings = [{ code: 'redirected', count: 1, example: `${origin.uri('lure')}/Packages to ${location}` }];
    const visited = {
      code: null,
      reason: null,
      detail: null,
      since: at,
      visitedAt: at,
      confirmedAt: at,
      signing: null,
    };
    const lured = {
      slug: 'lure',
      uri: origin.uri('lure'),
      outcome: 'fresh',
      ...visited,
      heldBack: [],
      findings,
    } as const;
    const last = lastBuildSchema.parse({ format: 2, builtAt: at, repositories: [lured] });
    const state = temporaryFolder();
    writeFileSync(outcomesPath(state), JSON.stringify(last));
    expect(await told('--state', state)).toContain(
      `lure redirected in the last build to ${location}, which the safety list calls unsafe`,
    );
    // Nobody writes a new address of what is to be taken away.
    origin.serve('moved', await generateRepository());
    origin.break('/lure/Release', { kind: 'redirect', location: `${origin.uri('moved')}/Release`, status: 301 });
    expect(await told()).toContain(`that it moved to ${origin.uri('moved')}\n`);
    expect(await told('--state', state)).not.toContain('moved to');
    origin.break('/lure/Release', { kind: 'redirect', location, status: 301 });
    // What the list names itself is there because its operator wants it, and may change its scheme.
    for (const place of ['  path: /elsewhere\n', '']) {
      write(place);
      expect(await told()).toContain(`that it moved to ${origin.uri('good')}\n`);
    }
  });

  it('says what to write, and by its exit code whether there is anything', async () => {
    const all = await check();
    expect(all.status).toBe(1);
    expect(all.out).toContain('parked is gone: ');
    expect(all.out).toContain('    where that stays so, take parked.yaml away\n');
    expect(all.out).toContain('2 asked: 1 answer (0 signed, 1 not), 0 moved, 1 gone, 0 cannot be reached.');
    const list = path.join(temporaryFolder(), 'list.json');
    writeFileSync(list, JSON.stringify([{ slug: 'parked', uri: origin.uri('parked'), ranking: 3 }]));
    expect((await check('--manifest', list)).out).toContain('    where that stays so, take the entry of parked away\n');
    expect(await check('--only', 'good')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^1 asked: 1 answer/),
    });
  });

  it('C5: compares with what the last build knew, where one is in the state folder, and ends with 0 where nothing is to be written', async () => {
    const state = temporaryFolder();
    const now = new Date().toISOString();
    const known = { slug: 'good', uri: origin.uri('good'), outcome: 'fresh', code: null, reason: null, detail: null };
    const signing = { state: 'signed', signers: ['ABCD'] };
    const times = { since: now, visitedAt: now, confirmedAt: now };
    const repositories = [{ ...known, ...times, signing, heldBack: [], findings: [] }];
    const build = lastBuildSchema.parse({ format: 2, builtAt: now, repositories });
    writeFileSync(outcomesPath(state), JSON.stringify(build));
    expect(await check('--only', 'good', '--state', state)).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^good is not signed any more\n1 asked/),
    });
  });

  it('prints what it found for programs', async () => {
    const { out } = await check('--json');
    const { checks, told } = JSON.parse(out);
    const { contact_email: contact } = readService();
    expect(origin.requests.at(-1)?.headers['user-agent']).toContain(`(+${contact})`);
    expect(checks).toMatchObject([
      { slug: 'good', state: 'answers' },
      { slug: 'parked', state: 'gone', code: 'html' },
    ]);
    expect(told).toMatchObject([{ slug: 'parked', what: 'gone' }]);
  });

  it('C6: asks as many repositories at once as it is told to', async () => {
    // How often the next request was for the other one; by itself both are asked at once.
    const turns = async () => {
      origin.reset();
      await check('--concurrency', '1');
      const asked = origin.requests.map(({ path: file }) => file.split('/')[1]);
      return asked.filter((slug, index) => index > 0 && slug !== asked[index - 1]).length;
    };
    // Where this machine stands still for a second, an origin counts as silent, and its place is another's.
    await expect.poll(turns, patience).toBe(1);
  });

  it('refuses what the manifest does not have', async () => {
    expect(await check('--only', 'good,')).toMatchObject({ status: 0, out: expect.stringMatching(/^1 asked/) });
    expect((await check('--only', ' parked, good ')).out).toMatch(/\n2 asked/);
    expect(await check('--only', ',')).toMatchObject({
      status: 2,
      error: expect.stringContaining('--only must name a repository'),
    });
    expect(await check('--only', 'good,bad')).toMatchObject({
      status: 2,
      error: expect.stringContaining('--only: the manifest has no bad'),
    });
    expect(await runScript('manifest', ['check', '--help'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('Usage: npm run manifest -- check [options]'),
    });
  });
});
