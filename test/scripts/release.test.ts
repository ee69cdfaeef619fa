import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dateChanges, release } from '../../scripts/release/prepare-release.ts';
import { runProgram } from '../../scripts/release/run-program.ts';
import { temporaryFolder } from '../support/folder.ts';

const today = new Date('2026-03-04T23:00:00Z');
const changelog = '# Changes\n\n## Unreleased\n\n- A new thing.\n\n## 0.1.0 – 2026-01-01\n\n- The first.\n';

const gitIn = (root: string, ...words: string[]): string => {
  const settings = ['-c', 'user.name=Test', '-c', 'user.email=test@debdex.test', '-c', 'init.defaultBranch=main'];
  const { status, stdout, stderr } = spawnSync('git', [...settings, ...words], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

/** A project under git that has version 0.1.0, which each test copies: every run of git is a process. */
const begun = mkdtempSync(path.join(tmpdir(), 'debdex-release-'));
beforeAll(() => {
  for (const name of ['package.json', 'package-lock.json'])
    writeFileSync(path.join(begun, name), '{ "version": "0.1.0" }\n');
  writeFileSync(path.join(begun, 'CHANGELOG.md'), changelog);
  gitIn(begun, 'init', '--template=');
  gitIn(begun, 'add', '--all');
  gitIn(begun, 'commit', '--message', 'Begin');
});
afterAll(() => rmSync(begun, { recursive: true, force: true }));

/** That project, and what a release of it runs besides git. */
const createProject = () => {
  const root = temporaryFolder();
  cpSync(begun, root, { recursive: true });
  const ran: string[] = [];
  let failing = '';
  const git = (...words: string[]): string => gitIn(root, ...words);
  const run = (program: string, ...words: string[]) => {
    if (program === 'git') return void git(...words);
    const said = [program, ...words].join(' ');
    ran.push(said);
    if (said === failing) throw new Error(`${said} failed`);
  };
  const fail = (said: string) => {
    failing = said;
  };
  return { root, ran, git, fail, tools: { root, today, run, ask: (_: string, ...words: string[]) => git(...words) } };
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

  it('changes nothing where a check fails, and refuses what is no version or none that is newer', () => {
    const { root, ran, git, fail, tools } = createProject();
    for (const version of ['0.1.0', '0.0.9', 'v1.0.0', '1.0', '1.0.0-rc', '01.0.0', '']) {
      expect(() => release(version, tools), version).toThrow(/is no version|is not newer/);
    }
    expect(ran).toEqual([]);
    for (const failing of ['npm test', 'npm run check']) {
      fail(failing);
      expect(() => release('0.2.0', tools)).toThrow(`${failing} failed`);
      expect(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')).toBe(changelog);
      expect(git('tag')).toBe('');
    }
  });

  it('stops at a program that fails, is killed or is not there', () => {
    const run = (program: string, ...words: string[]) => runProgram(temporaryFolder(), program, words, 'pipe');
    expect(run(process.execPath, '-p', '1 + 1')).toBe('2\n');
    expect(() => run(process.execPath, '-e', 'process.exit(1)')).toThrow(/ failed: nothing is released/);
    expect(() => run('sh', '-c', 'kill -9 $$')).toThrow(/ failed: nothing is released/);
    expect(() => run('debdex-is-no-program')).toThrow(/ENOENT/);
  });

  it('takes a version that is newer in any of its places', () => {
    const root = temporaryFolder();
    // Of git it is only asked here whether it may go on.
    const ask = (_: string, ...words: string[]) => (words.includes('rev-parse') ? 'main\n' : '');
    for (const version of ['0.1.1', '0.2.0', '1.0.0', '0.10.0']) {
      writeFileSync(path.join(root, 'package.json'), '{ "version": "0.1.0" }\n');
      writeFileSync(path.join(root, 'CHANGELOG.md'), changelog);
      const ran: string[] = [];
      release(version, { root, today, ask, run: (...words) => void ran.push(words.join(' ')) });
      expect(ran).toContain(`npm version ${version} --no-git-tag-version`);
    }
  });

  it('refuses while something is not committed, and on another branch', () => {
    const { root, git, tools } = createProject();
    git('switch', '--create', 'other');
    expect(() => release('0.2.0', tools)).toThrow('Releases are made on main, and this is other.');
    writeFileSync(path.join(root, 'new'), '');
    expect(() => release('0.2.0', tools)).toThrow('not committed');
  });

  it('changes nothing where git would refuse the commit or the tag', () => {
    const { ran, git, tools } = createProject();
    git('tag', 'v0.2.0');
    expect(() => release('0.2.0', tools)).toThrow('There is a tag v0.2.0 already');
    const ask = (program: string, ...words: string[]) => {
      if (words.includes('GIT_COMMITTER_IDENT')) throw new Error('who are you?');
      return tools.ask(program, ...words);
    };
    expect(() => release('0.3.0', { ...tools, ask })).toThrow('who are you?');
    expect(ran).toEqual([]);
    expect(git('status', '--porcelain')).toBe('');
  });

  it('leaves everything as it was where the version or the tag cannot be set, or something changed while the tests ran', () => {
    const { root, git, fail, tools } = createProject();
    // As npm does, whatever fails afterwards.
    const setVersion = (program: string, ...words: string[]) => {
      for (const name of words[0] === 'version' ? ['package.json', 'package-lock.json'] : [])
        writeFileSync(path.join(root, name), '{ "version": "0.2.0" }\n');
      tools.run(program, ...words);
    };
    fail('npm version 0.2.0 --no-git-tag-version');
    expect(() => release('0.2.0', { ...tools, run: setVersion })).toThrow(
      'npm version 0.2.0 --no-git-tag-version failed',
    );
    expect(git('status', '--porcelain')).toBe('');
    fail('');
    git('config', 'tag.gpgSign', 'true');
    git('config', 'gpg.program', 'false');
    expect(() => release('0.2.0', { ...tools, run: setVersion })).toThrow();
    expect([git('status', '--porcelain'), git('log', '--format=%s')]).toEqual(['', 'Begin\n']);
    const run = (program: string, ...words: string[]) => {
      if (words[0] === 'test') writeFileSync(path.join(root, 'meanwhile'), '');
      tools.run(program, ...words);
    };
    expect(() => release('0.2.0', { ...tools, run })).toThrow('Something was changed while the tests ran');
    expect(git('status', '--porcelain')).toBe('?? meanwhile\n');
    expect(git('log', '--format=%s')).toBe('Begin\n');
  });

  it('refuses where nothing is said of what changed', () => {
    expect(() => dateChanges('# Changes\n\n## Unreleased\n\n## 0.1.0\n\n- One.\n', '0.2.0', today)).toThrow(
      'Unreleased',
    );
    expect(() => dateChanges('# Changes\n\n## 0.1.0\n\n- One.\n', '0.2.0', today)).toThrow('Unreleased');
  });
});
