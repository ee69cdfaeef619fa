import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { dateChanges, release } from '../../scripts/release/prepare-release.ts';
import { temporaryFolder } from '../support/folder.ts';

const today = new Date('2026-03-04T23:00:00Z');
const changelog = '# Changes\n\n## Unreleased\n\n- A new thing.\n\n## 0.1.0 – 2026-01-01\n\n- The first.\n';

/** A project under git that has version 0.1.0, and what a release of it runs besides git. */
const createProject = (failing = '') => {
  const root = temporaryFolder();
  const ran: string[] = [];
  const git = (...words: string[]): string => {
    const settings = ['-c', 'user.name=Test', '-c', 'user.email=test@debdex.test', '-c', 'init.defaultBranch=main'];
    const { status, stdout, stderr } = spawnSync('git', [...settings, ...words], { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return stdout;
  };
  const run = (program: string, ...words: string[]) => {
    if (program === 'git') return void git(...words);
    const said = [program, ...words].join(' ');
    ran.push(said);
    if (said === failing) throw new Error(`${said} failed`);
  };
  writeFileSync(path.join(root, 'package.json'), '{ "version": "0.1.0" }\n');
  writeFileSync(path.join(root, 'CHANGELOG.md'), changelog);
  git('init');
  git('add', '--all');
  git('commit', '--message', 'Begin');
  return { root, ran, git, tools: { root, today, run, ask: (_: string, ...words: string[]) => git(...words) } };
};

describe('npm run release', () => {
  it('checks everything, dates the changes, and commits and tags', () => {
    const { root, ran, git, tools } = createProject();
    release('0.2.0', tools);
    expect(ran).toEqual(['npm test', 'npm run check', 'npm version 0.2.0 --no-git-tag-version']);
    expect(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')).toContain('## 0.2.0 – 2026-03-04\n\n- A new thing.');
    expect(git('status', '--porcelain')).toBe('');
    expect(git('log', '--max-count=1', '--format=%s %D')).toContain('Release 0.2.0 HEAD -> main, tag: v0.2.0');
  });

  it.each(['npm test', 'npm run check'])('changes nothing where %s fails', (failing) => {
    const { root, git, tools } = createProject(failing);
    expect(() => release('0.2.0', tools)).toThrow(`${failing} failed`);
    expect(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')).toBe(changelog);
    expect(git('tag')).toBe('');
  });

  it.each(['0.1.0', '0.0.9', 'v1.0.0', '1.0', '1.0.0-rc', '01.0.0', ''])('refuses the version "%s"', (version) => {
    expect(() => release(version, createProject().tools)).toThrow(/is no version|is not newer/);
  });

  it('takes a version that is newer in any of its places', () => {
    for (const version of ['0.1.1', '0.2.0', '1.0.0', '0.10.0']) release(version, createProject().tools);
  });

  it('refuses while something is not committed, and on another branch', () => {
    const { root, git, tools } = createProject();
    git('switch', '--create', 'other');
    expect(() => release('0.2.0', tools)).toThrow('Releases are made on main, and this is other.');
    writeFileSync(path.join(root, 'new'), '');
    expect(() => release('0.2.0', tools)).toThrow('not committed');
  });

  it('refuses where nothing is said of what changed', () => {
    expect(() => dateChanges('# Changes\n\n## Unreleased\n\n## 0.1.0\n\n- One.\n', '0.2.0', today)).toThrow(
      'Unreleased',
    );
    expect(() => dateChanges('# Changes\n\n## 0.1.0\n\n- One.\n', '0.2.0', today)).toThrow('Unreleased');
  });
});
