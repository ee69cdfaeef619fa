import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { readStoreLocation } from '../../functions/gateway/configuration.ts';
import { createNodeCryptography } from '../../functions/gateway/node/node-cryptography.ts';
import { openCredentialStore } from '../../functions/gateway/store/open-store.ts';
import { openDownloadsStore } from '../../functions/node/downloads-store.ts';
import { prepareRehearsal } from '../../src/pipeline/rehearsal.ts';
import { listFiles } from '../../src/publication/folder-entries.ts';
import { readGeneration } from '../../src/publication/generation-in-force.ts';
import { OutputFolder } from '../../src/publication/output-folder.ts';
import { generateRepository, makePackages } from '../support/apt-repository.ts';
import { BuildBench } from '../support/building.ts';
import { FileOrigin } from '../support/built-publication.ts';
import { project } from '../support/deployed.ts';
import { temporaryFolder } from '../support/folder.ts';
import { OriginServer } from '../support/origin-server.ts';
import { runScript } from '../support/run-script.ts';

const run = (script: string, parameters: readonly string[], { input = '', programs = '' } = {}) => {
  const folders = [programs, path.dirname(process.execPath), process.env.PATH].filter((folder) => folder !== '');
  const environment = { ...process.env, PATH: folders.join(':') };
  const options = { cwd: '/', env: environment, input, encoding: 'utf8' } as const;
  return spawnSync(path.join(project, script), parameters, options);
};

const buildSample = async (state: string, out: string): Promise<void> => {
  const { status, text } = await runScript('build', ['--sample', '--state', state, '--out', out, '--no-site']);
  expect(status, text).toBe(0);
};

const digests = (folder: string): Map<string, string> =>
  new Map(
    [...listFiles(folder)]
      .filter((file) => file.startsWith('v2/') && file.endsWith('.json'))
      .map((file) => [file, hash('sha256', readFileSync(path.join(folder, file)))]),
  );

const changed = (before: Map<string, string>, after: Map<string, string>): string[] =>
  [...after].flatMap(([file, digest]) => (before.get(file) === digest ? [] : [file]));

// Dates of documents are those of the builds that changed them, so a build that remembers nothing dates all of them anew.
it('a backup restored on a new machine dates no document anew, and has the accounts', async () => {
  const folder = temporaryFolder();
  const [state, out, backups] = ['state', 'dist', 'backups'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(backups);
  await buildSample(state, out);
  const before = digests(out);
  // By the store and not by its command, which would hash a password at its full cost.
  const store = openCredentialStore(readStoreLocation({}, state), createNodeCryptography());
  const alice = { id: createNodeCryptography().randomId(), name: 'alice', displayName: 'alice', passwordHash: '' };
  expect(await store.addAccount(alice)).toBe(true);
  await store.close();

  // What a rehearsal has under way, or one that was killed left.
  prepareRehearsal(state);
  const backup = run('deploy/backup.sh', [state, backups]);
  // Not a word, which cron would write to its operator every day.
  expect(backup.stderr + backup.status).toBe('0');
  const file = backup.stdout.trim();
  expect(readdirSync(backups)).toEqual([path.basename(file)]);
  expect(statSync(file).mode & 0o077).toBe(0);

  const there = path.join(folder, 'there');
  const restore = run('deploy/restore.sh', [file, there]);
  expect(restore.stderr + restore.status).toMatch(/0$/);
  expect((await runScript('accounts', ['list', '--state', there])).out).toContain('alice');
  for (const left of ['snapshots', 'rehearsal']) expect(existsSync(path.join(there, left)), left).toBe(false);
  const restored = path.join(folder, 'restored');
  const begun = Date.now();
  await buildSample(there, restored);
  const after = digests(restored);
  expect([...after.keys()].filter((name) => !before.has(name) && !name.startsWith('v2/changes/'))).toEqual([]);
  // What tells of builds themselves.
  const telling = /^v2\/(?:generation|status|index|changes\/\d+)\.json$/;
  expect(changed(before, after).filter((name) => !telling.test(name))).toEqual([]);

  // With none of it nearly all would be, which is what the page warns of: they say when they were made.
  const datesOf = (file: string): string[] => {
    const { date, data } = JSON.parse(readFileSync(path.join(restored, file), 'utf8'));
    return typeof date === 'string' && data !== undefined ? [date] : [];
  };
  const dates = [...before.keys()].filter((name) => !telling.test(name)).flatMap(datesOf);
  expect(dates.length).toBeGreaterThan(before.size / 2);
  for (const date of dates) expect(Date.parse(date)).toBeLessThan(begun);
}, 120_000);

// Whoever looks after a service by hand has the Node of the system in PATH, which may be too old for all that runs.
it('a backup is made and restored by the Node of the checkout, whatever there is in PATH', async () => {
  const folder = temporaryFolder();
  const place = (name: string): string => path.join(folder, name);
  for (const name of ['state', 'backups', 'programs']) mkdirSync(place(name));
  const store = openCredentialStore(readStoreLocation({}, place('state')), createNodeCryptography());
  expect(await store.listAccounts()).toEqual([]);
  await store.close();
  const counters = new DatabaseSync(place('state/downloads.sqlite'));
  counters.exec('CREATE TABLE one (two)');
  counters.close();
  writeFileSync(place('programs/node'), '#!/bin/sh\necho old >&2; exit 1\n', { mode: 0o755 });
  const programs = place('programs');
  const backup = run('deploy/backup.sh', [place('state'), place('backups')], { programs });
  expect(backup.stderr + backup.status).toBe('0');
  const restore = run('deploy/restore.sh', [backup.stdout.trim(), place('there')], { programs });
  expect(restore).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Restored 0 accounts/) });
  expect(readdirSync(place('there'))).toContain('downloads.sqlite');
});

// Both are destroyed with the day, and with the key anybody could find out whose network a mark is of.
it('a backup has the counts of downloads, and neither the marks of the day nor their key', () => {
  const folder = temporaryFolder();
  const place = (name: string): string => path.join(folder, name);
  for (const name of ['state', 'backups']) mkdirSync(place(name));
  const limits = { days: 400, counters: 9, perNetwork: 9, perSite: 9, perDay: 9 };
  const store = openDownloadsStore(place('state/downloads.sqlite'), limits);
  onTestFinished(() => store.close());
  const downloads = [{ package_id: 'com.example.one', package_version: '1.0' }];
  expect(store.add('2026-11-20', [{ network: '192.0.2.1', downloads }])).toEqual([1]);
  const backup = run('deploy/backup.sh', [place('state'), place('backups')]);
  expect(backup.stderr + backup.status).toBe('0');
  expect(run('deploy/restore.sh', [backup.stdout.trim(), place('there')]).status).toBe(0);
  expect(readdirSync(place('there'))).toEqual(['downloads.sqlite']);
  const [here, there] = ['state', 'there'].map((name) => {
    const database = new DatabaseSync(place(`${name}/downloads.sqlite`), { readOnly: true });
    const count = (table: string) => database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;
    const key = Buffer.from((database.prepare('SELECT key FROM marking').get()?.key ?? []) as Uint8Array);
    const rows = ['downloads', 'mark', 'marked_network', 'marking'].map(count);
    database.close();
    return { rows, key };
  });
  expect([here?.rows, there?.rows]).toEqual([
    [1, 1, 1, 1],
    [1, 0, 0, 0],
  ]);
  expect(readFileSync(place('there/downloads.sqlite')).includes(here?.key ?? '')).toBe(false);
});

// By the number of the backup it would be an older one to whoever follows.
it('P3: a restored state goes on from the generation that a mirror brought back', async () => {
  const origin = await OriginServer.start();
  onTestFinished(() => origin.stop());
  const bench = new BuildBench();
  const apart = (name: string): string => path.join(bench.folder, name);
  bench.list([{ slug: 'one', uri: origin.uri('one') }]);
  const build = async (count: number) => {
    await origin.serve('one', await generateRepository({ packages: makePackages(count, 'one') }));
    return (await bench.build()).status;
  };
  const current = () => readGeneration(new OutputFolder(bench.out));
  expect(await build(1)).toBe(0);
  cpSync(bench.state, apart('restored'), { recursive: true });
  expect([await build(2), await build(3)]).toEqual([0, 0]);
  cpSync(bench.out, apart('elsewhere'), { recursive: true });
  rmSync(bench.out, { recursive: true });
  const host = await new FileOrigin(apart('elsewhere')).open();
  onTestFinished(() => host.close());

  bench.state = apart('restored');
  expect((await runScript('mirror', [host.address, bench.out])).status).toBe(0);
  expect((await runScript('accept', ['--state', bench.state, '--take-over', bench.out])).status).toBe(0);
  expect(await build(4)).toBe(0);
  expect(current()).toMatchObject({ number: 4, previous: null });
  expect(bench.findDamage()).toEqual([]);
  expect((await runScript('mirror', [host.address, apart('mirror')])).status).toBe(0);
  host.folder = bench.out;
  expect((await runScript('mirror', [host.address, apart('mirror')])).status).toBe(0);
});

it('what is to be restored goes into an empty folder alone, and what is broken leaves none that looks whole', () => {
  const folder = temporaryFolder();
  const full = path.join(folder, 'full');
  cpSync(path.join(project, 'deploy', 'systemd'), full, { recursive: true });
  const refused = run('deploy/restore.sh', [path.join(full, 'debdex.env'), full]);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain('is not empty');
  const broken = run('deploy/restore.sh', [path.join(full, 'debdex.env'), path.join(folder, 'new')]);
  expect(broken).toMatchObject({ status: 1, stderr: expect.stringContaining('debdex.env could not be unpacked') });
  expect(readdirSync(path.join(folder, 'new'))).toEqual([]);
  // What tar takes may be anything.
  const other = path.join(folder, 'other.tar.gz');
  expect(spawnSync('tar', ['-C', full, '-czf', other, 'debdex.env']).status).toBe(0);
  expect(run('deploy/restore.sh', [other, path.join(folder, 'new')])).toMatchObject({
    status: 1,
    stderr: `${other} is no backup: name one that backup.sh wrote. Nothing was restored.\n`,
  });
  expect(readdirSync(path.join(folder, 'new'))).toEqual([]);
  rmSync(other);
  // A typing mistake that would else be noticed when the backup is needed.
  expect(run('deploy/backup.sh', [full, folder])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`${full} is no state folder`),
  });
  for (const script of ['deploy/backup.sh', 'deploy/restore.sh']) {
    expect(run(script, []), script).toMatchObject({ status: 2, stderr: expect.stringContaining(`Usage: ${script} `) });
  }
  expect(readdirSync(folder).sort()).toEqual(['full', 'new']);
});

it('a backup or a folder that is not there is named, and nothing is made', () => {
  const folder = temporaryFolder();
  const [none, file, fresh] = ['none', 'file', 'fresh'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(file, '');
  const wrong: readonly [script: string, parameters: readonly string[], sentence: string][] = [
    ['deploy/backup.sh', [none, folder], `${none} is no folder`],
    ['deploy/backup.sh', [folder, none], `${none} is no folder`],
    ['deploy/backup.sh', [folder, file], `${file} is no folder`],
    ['deploy/restore.sh', [none, fresh], `${none} is no file`],
    // Without its folder it was looked for in the root.
    ['deploy/restore.sh', [path.join(none, 'file'), fresh], `${path.join(none, 'file')} is no file`],
    ['deploy/restore.sh', [folder, fresh], `${folder} is no file`],
    ['deploy/restore.sh', [file, file], `${file} is no folder`],
  ];
  for (const [script, parameters, sentence] of wrong) {
    const { status, stderr } = run(script, parameters);
    expect([status, stderr.trimEnd().split('\n')], parameters.join(' ')).toEqual([
      1,
      [expect.stringContaining(sentence)],
    ]);
  }
  expect(readdirSync(folder)).toEqual(['file']);
});

// A build or a server that writes while tar reads cannot be had at will, but what tar says of it can.
it('a backup is made while files change, and none where tar fails', () => {
  const folder = temporaryFolder();
  const [state, backups, programs] = ['state', 'backups', 'programs'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [state, backups, programs]) mkdirSync(each);
  writeFileSync(path.join(state, 'builds.jsonl'), '{}\n');
  writeFileSync(path.join(state, 'identifier'), 'one\n');
  const places = (process.env.PATH ?? '').split(':').map((each) => path.join(each, 'tar'));
  const tar = places.find((place) => existsSync(place));
  const endTarWith = (code: number): void =>
    writeFileSync(
      path.join(programs, 'tar'),
      `#!/bin/sh\n'${tar}' "$@" || exit\ncase "$*" in *state.tar*--exclude*) exit ${code};; esac\n`,
      { mode: 0o755 },
    );
  endTarWith(2);
  expect(run('deploy/backup.sh', [state, backups], { programs }).status).not.toBe(0);
  expect(readdirSync(backups)).toEqual([]);
  endTarWith(1);
  const backup = run('deploy/backup.sh', [state, backups], { programs });
  expect(backup.stderr + backup.status).toBe('0');
  const there = path.join(folder, 'there');
  expect(run('deploy/restore.sh', [backup.stdout.trim(), there]).status).toBe(0);
  expect(readFileSync(path.join(there, 'builds.jsonl'), 'utf8')).toBe('{}\n');
});

it('a state that cannot be restored whole, as on a full disk, is not there at all', () => {
  const folder = temporaryFolder();
  const place = (name: string): string => path.join(folder, name);
  for (const name of ['state', 'backups', 'programs']) mkdirSync(place(name));
  writeFileSync(place('state/identifier'), 'one\n');
  const { stdout } = run('deploy/backup.sh', [place('state'), place('backups')]);
  const places = (process.env.PATH ?? '').split(':').map((each) => path.join(each, 'tar'));
  const tar = places.find((each) => existsSync(each));
  const fillAt = (end: string): void =>
    writeFileSync(
      place('programs/tar'),
      `#!/bin/sh\n'${tar}' "$@" || exit\ncase "$*" in *${end}) echo 'No space left' >&2; exit 2;; esac\n`,
      { mode: 0o755 },
    );
  const restore = [stdout.trim(), place('there')];
  fillAt('state.tar');
  expect(run('deploy/restore.sh', restore, { programs: place('programs') }).status).toBe(2);
  expect(readdirSync(place('there'))).toEqual([]);
  // Before that, it is not the backup that is to blame.
  fillAt('.tar.gz');
  expect(run('deploy/restore.sh', restore, { programs: place('programs') })).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^No space left\n.* or there is no room for it in .*there\. Nothing was restored/),
  });
  expect(readdirSync(place('there'))).toEqual([]);
  expect(run('deploy/restore.sh', restore).status).toBe(0);
  expect(readdirSync(place('there'))).toEqual(['identifier']);
  expect(statSync(place('there')).mode & 0o777).toBe(0o700);
});

it('a backup that is stopped leaves nothing in its folder, and the next one removes what a killed one left', () => {
  const folder = temporaryFolder();
  const place = (name: string): string => path.join(folder, name);
  for (const name of ['state', 'backups/.debdex-backup.killed', 'backups/.debdex-backup.under-way', 'programs'])
    mkdirSync(place(name), { recursive: true });
  const before = new Date(Date.now() - 3 * 86_400_000);
  utimesSync(place('backups/.debdex-backup.killed'), before, before);
  writeFileSync(place('state/identifier'), 'one\n');
  writeFileSync(place('programs/tar'), '#!/bin/sh\nkill -TERM $PPID\n', { mode: 0o755 });
  const backup = [place('state'), place('backups')];
  expect(run('deploy/backup.sh', backup, { programs: place('programs') }).status).toBe(143);
  expect(readdirSync(place('backups'))).toEqual(['.debdex-backup.under-way']);
});
