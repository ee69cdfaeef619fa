import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { buildOptions } from '../../scripts/build-options.ts';
import { variableOf } from '../../scripts/options.ts';
import { recipe } from '../support/deployed.ts';
import { findProgram } from '../support/find-program.ts';
import { temporaryFolder } from '../support/folder.ts';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
}
const workflow = parse(recipe('github-actions/publish.yml'), { strict: true, uniqueKeys: true }) as {
  on: { schedule: { cron: string }[] };
  concurrency: object;
  permissions: Readonly<Record<string, string>>;
  jobs: { publish: { env: Readonly<Record<string, string>>; steps: readonly Step[] } };
};
const { steps, env } = workflow.jobs.publish;
const step = (name: string): Step => steps.find((one) => one.name === name) ?? {};

/** Runs a step as GitHub does, with these programs in the place of its own; returns how it ended and what they were told. */
const perform = (
  name: string,
  programs: Readonly<Record<string, string>>,
  variables: Record<string, string> = {},
  folder = temporaryFolder(),
) => {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  for (const [program, script] of Object.entries(programs)) {
    writeFileSync(path.join(bin, program), `#!/bin/sh\necho "${program} $*" >>"$TOLD"\n${script}\n`);
    chmodSync(path.join(bin, program), 0o755);
  }
  const place = (file: string) => path.join(folder, file);
  for (const file of ['told', 'output', 'set']) writeFileSync(place(file), '');
  const { status, stdout } = spawnSync('bash', ['-eo', 'pipefail', '-c', step(name).run ?? 'exit 99'], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: folder,
      TOLD: place('told'),
      GITHUB_OUTPUT: place('output'),
      GITHUB_ENV: place('set'),
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_REPOSITORY_OWNER: 'o',
      BRANCH: 'main',
      BEGIN: '',
      ...variables,
    },
  });
  const read = (file: string) => readFileSync(place(file), 'utf8');
  return { status, stdout, told: read('told'), output: read('output'), set: read('set') };
};

describe('the workflow for GitHub Actions', () => {
  it('runs one build at a time, on a schedule, with no more rights than it needs', () => {
    expect(workflow.on.schedule[0]?.cron).toMatch(/^\d+ \S+ \* \* \*$/);
    expect(workflow.concurrency).toEqual({ group: 'publish', 'cancel-in-progress': false });
    expect(workflow.permissions).toEqual({ contents: 'read', actions: 'write', pages: 'write', 'id-token': 'write' });
    for (const { uses, run } of steps) {
      expect([uses, run].filter(Boolean)).toHaveLength(1);
      if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@v\d+$/);
      // What others may choose reaches a shell as a variable alone.
      if (run !== undefined) expect(run).not.toContain('$' + '{{');
    }
    const known = Object.entries(buildOptions).map(([name, option]) => variableOf(name, option));
    for (const name of Object.keys(env)) expect(known).toContain(name);
    // A secret that there is none of is empty, which a build takes for none.
    expect(step('Build').env).toEqual({
      DEBDEX_NOTIFY: `$${'{{ secrets.DEBDEX_NOTIFY }}'}`,
      DEBDEX_SIGNING_KEY: `$${'{{ secrets.DEBDEX_SIGNING_KEY }}'}`,
    });
  });

  it.each([
    ['o/r', '', 'https://o.github.io/r'],
    ['Owner/Index', '', 'https://owner.github.io/Index'],
    ['Owner/owner.github.io', '', 'https://owner.github.io'],
    ['o/r', 'https://index.example.org', 'https://index.example.org'],
  ])('publishes %s at the address that Pages give it, or at the one given (%s)', (repository, given, address) => {
    const [owner = ''] = repository.split('/');
    const variables = { GITHUB_REPOSITORY: repository, GITHUB_REPOSITORY_OWNER: owner, GIVEN: given };
    expect(perform('Name the public address', {}, variables).set).toBe(`DEBDEX_BASE_URL=${address}\n`);
    // A schedule's event need not name its repository: every link would lead to the root of the host.
    expect(recipe('github-actions/publish.yml')).not.toContain('github.event.');
    const at = (name: string) => steps.findIndex((one) => one.name === name);
    expect(at('Name the public address')).toBeLessThan(at('Build'));
  });

  it('stops where no state is found, unless it is told to begin', () => {
    const nothing = perform('Take up the state of the last run', { gh: '', npm: '' });
    expect(nothing.status).toBe(1);
    expect(nothing.stdout).toMatch(/^::error::There is no state/);
    expect(nothing.told).not.toContain('npm');
    // An answer that failed is no answer: what is there may not be overlooked.
    expect(perform('Take up the state of the last run', { gh: 'exit 1' }, { BEGIN: 'true' }).status).not.toBe(0);
  });

  it('begins with the number of what is published already, and with none where nothing is', () => {
    const [first, again] = [temporaryFolder(), temporaryFolder()];
    const begin = (npm: string, folder: string) => {
      const variables = { BEGIN: 'true', DEBDEX_BASE_URL: 'https://o.github.io/r' };
      return perform('Take up the state of the last run', { gh: '', npm }, variables, folder);
    };
    const mirror = 'npm run --silent mirror -- https://o.github.io/r dist\n';
    // What a mirror leaves that failed is what no build published.
    const none = begin('mkdir dist; exit 1', first);
    expect(none.status).toBe(0);
    expect(none.told).toContain(mirror);
    expect(none.told).not.toContain('accept');
    expect(existsSync(path.join(first, 'dist'))).toBe(false);
    const { status, told } = begin('', again);
    expect(status).toBe(0);
    expect(told).toContain(`${mirror}npm run --silent accept -- --take-over dist\n`);
    expect(existsSync(path.join(again, 'state'))).toBe(true);
  });

  it.skipIf(findProgram('jq') === undefined)('takes the newest state of its own branch and repository', () => {
    const artifact = (id: number, created_at: string, more: object = {}, expired = false) => ({
      id,
      created_at,
      expired,
      workflow_run: { head_branch: 'main', head_repository_id: 1, repository_id: 1, ...more },
    });
    const artifacts = [
      artifact(1, '2026-01-01T00:00:00Z'),
      artifact(2, '2026-01-03T00:00:00Z'),
      artifact(3, '2026-01-02T00:00:00Z'),
      artifact(4, '2026-01-04T00:00:00Z', { head_branch: 'other' }),
      artifact(5, '2026-01-05T00:00:00Z', { head_repository_id: 2 }),
      artifact(6, '2026-01-06T00:00:00Z', {}, true),
      artifact(7, '2025-12-31T00:00:00Z'),
      artifact(8, '2025-12-30T00:00:00Z'),
    ];
    const gh = `case "$*" in *--jq*) echo '${JSON.stringify({ artifacts })}' | jq -r "$4" ;; esac`;
    const unpack = { unzip: '', tar: '', rm: '' };
    const taken = perform('Take up the state of the last run', { gh, ...unpack });
    expect(taken.status).toBe(0);
    expect(taken.told).toMatch(/^gh api repos\/o\/r\/actions\/artifacts\/2\/zip$/m);
    const gone = perform('Remove all but the last three states', { gh });
    expect(Array.from(gone.told.matchAll(/--method DELETE \S+\/(\d+)$/gm), ([, id]) => Number(id))).toEqual([
      3, 1, 7, 8,
    ]);
  });

  it('accepts what its operator names before it builds', () => {
    const { told, status } = perform('Accept what was held back', { npm: '' }, { ACCEPT: 'one --removals' });
    expect(status).toBe(0);
    expect(told).toBe('npm run --silent accept -- one\nnpm run --silent accept -- --removals\n');
    expect(perform('Accept what was held back', { npm: 'exit 1' }, { ACCEPT: 'oen' }).status).toBe(1);
    const [taken, accepted, built] = ['Take up the state of the last run', 'Accept what was held back', 'Build'].map(
      (name) => steps.findIndex((one) => one.name === name),
    ) as [number, number, number];
    expect(taken).toBeLessThan(accepted);
    expect(accepted).toBeLessThan(built);
  });

  it.each([
    [0, 0],
    [3, 0],
    [4, 0],
    [1, 1],
    [6, 6],
  ])('publishes what a build that ended with %i left, or not', (code, expected) => {
    const build = perform('Build', { npm: `exit ${code}` });
    expect(build.status).toBe(expected);
    expect(build.output).toBe(`code=${code}\n`);
    expect(build.told).toBe('npm run --silent build\n');
  });

  it('deploys what this attempt uploaded, also where a run is started again', () => {
    const withOf = (action: string) => steps.find(({ uses }) => uses?.startsWith(`actions/${action}@`))?.with;
    const name = withOf('upload-pages-artifact')?.name;
    expect(name).toContain('github.run_attempt');
    expect(withOf('deploy-pages')).toEqual({ artifact_name: name });
    // A package may begin with a dot; what builds note lies in such folders too, and the next run needs it.
    expect(withOf('upload-pages-artifact')).toMatchObject({ 'include-hidden-files': true });
    const folder = temporaryFolder();
    for (const name of ['.debdex', '.staging', 'v2']) mkdirSync(path.join(folder, 'dist', name), { recursive: true });
    expect(perform('Leave out what only builds need', {}, {}, folder).status).toBe(0);
    expect(readdirSync(path.join(folder, 'dist'))).toEqual(['v2']);
    const at = (test: (one: Step) => boolean) => steps.findIndex(test);
    const left = at((one) => one.name === 'Leave out what only builds need');
    expect(at((one) => one.name === 'Pack the state')).toBeLessThan(left);
    expect(left).toBeLessThan(at((one) => one.uses?.startsWith('actions/upload-pages-artifact') === true));
  });

  it('turns red at the end where something needs a look', () => {
    const said = perform('Say what needs a look', { npm: '' }, { CODE: '4' });
    expect(said.status).toBe(4);
    expect(said.told).toBe('npm run --silent accept\n');
    expect(steps.at(-1)?.name).toBe('Say what needs a look');
  });

  // What was published too: of a generation that stands in no output folder no list of changes is published any more.
  it('packs the state of a build that failed too, with what was published, and takes up what it packed', () => {
    const [folder, there] = [temporaryFolder(), temporaryFolder()];
    const files = ['state/site/index.html', 'dist/index.html', 'dist/v2/changes/1.json'];
    for (const file of files) mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, 'state/site/index.html'), 'page');
    linkSync(path.join(folder, 'state/site/index.html'), path.join(folder, 'dist/index.html'));
    writeFileSync(path.join(folder, 'dist/v2/changes/1.json'), '{}');
    expect(perform('Pack the state', {}, {}, folder).status).toBe(0);
    expect(step('Pack the state').if).toContain('!cancelled()');
    const upload = steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact'));
    expect(upload?.with).toMatchObject({ name: 'debdex-state', path: 'state.tar.gz' });

    const programs = { gh: 'case "$*" in *--jq*) echo 7 ;; esac', unzip: 'cp "$PACKED" .' };
    const packed = { PACKED: path.join(folder, 'state.tar.gz') };
    expect(perform('Take up the state of the last run', programs, packed, there).status).toBe(0);
    for (const file of files) {
      const [one, other] = [folder, there].map((place) => statSync(path.join(place, file), { bigint: true }));
      expect(other, file).toMatchObject({ size: one?.size, mtimeNs: one?.mtimeNs, nlink: one?.nlink });
    }
    // A build that ended before it had either.
    expect(perform('Pack the state', {}).status).toBe(0);
  });
});
