import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandFailure, UsageError } from '../options.ts';

/** What a release needs from its environment. */
export interface ReleaseTools {
  /** The project's folder. */
  readonly root: string;
  /** The day of the release. */
  readonly today: Date;
  /** Runs a program in the project's folder and shows its output. Throws if its exit code is not 0. */
  readonly run: (program: string, ...words: string[]) => void;
  /** The same, but returns the output. */
  readonly ask: (program: string, ...words: string[]) => string;
}

const versionPattern = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/;

const parseVersion = (text: string): readonly number[] | undefined => {
  const parts = versionPattern.exec(text)?.slice(1).map(Number);
  return parts !== undefined && parts.join('.') === text ? parts : undefined;
};

const isNewer = (version: readonly number[], before: readonly number[]): boolean => {
  const index = version.findIndex((part, place) => part !== before[place]);
  return index !== -1 && (version[index] ?? 0) > (before[index] ?? 0);
};

const unreleased = /^## Unreleased[^\S\n]*\n+(?=(?!## )\S)/m;

/**
 * The text of CHANGELOG.md, with the unreleased changes moved below a heading for this version and day.
 *
 * @throws CommandFailure if there is nothing below "Unreleased"
 */
export const dateChanges = (text: string, version: string, today: Date): string => {
  if (!unreleased.test(text)) {
    throw new CommandFailure('CHANGELOG.md names nothing under "## Unreleased": say there what clients must know.');
  }
  return text.replace(unreleased, `## ${version} – ${today.toISOString().slice(0, 10)}\n\n`);
};

/**
 * Makes a release: first checks everything, then dates CHANGELOG.md, sets the version, and commits and tags both.
 * Writes nothing until all checks have passed.
 *
 * @throws UsageError if the version is invalid or not newer; CommandFailure if something prevents the release
 */
export const release = (version: string, { root, today, run, ask }: ReleaseTools): void => {
  const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
  const current = String(JSON.parse(read('package.json')).version);
  const wanted = parseVersion(version);
  if (wanted === undefined) throw new UsageError(`"${version}" is no version: write one like 1.2.3`);
  if (!isNewer(wanted, parseVersion(current) ?? [])) {
    throw new UsageError(`${version} is not newer than ${current}, which package.json has`);
  }
  const isChanged = () => ask('git', 'status', '--porcelain').trim() !== '';
  if (isChanged()) throw new CommandFailure('There are changes that are not committed: commit or undo them first.');
  const branch = ask('git', 'rev-parse', '--abbrev-ref', 'HEAD').trim();
  if (branch !== 'main') throw new CommandFailure(`Releases are made on main, and this is ${branch}.`);
  // What git would refuse once all is written, where neither another try nor this version would be possible any more.
  if (ask('git', 'tag', '--list', `v${version}`).trim() !== '') {
    throw new CommandFailure(`There is a tag v${version} already: name another version, or remove it (git tag -d).`);
  }
  ask('git', 'var', 'GIT_COMMITTER_IDENT');
  const changes = dateChanges(read('CHANGELOG.md'), version, today);
  run('npm', 'test');
  run('npm', 'run', 'check');
  // It would be released with the rest, and nothing has tested it.
  if (isChanged())
    throw new CommandFailure('Something was changed while the tests ran: commit or undo it, and begin again.');
  const start = ask('git', 'rev-parse', 'HEAD').trim();
  writeFileSync(path.join(root, 'CHANGELOG.md'), changes);
  try {
    run('npm', 'version', version, '--no-git-tag-version');
    run('git', 'commit', '--all', '--message', `Release ${version}`);
    // It may fail too, where tags are signed and commits are not.
    run('git', 'tag', '--annotate', `v${version}`, '--message', `Debdex ${version}`);
  } catch (error) {
    // What was written here alone, or the next try would not be let begin.
    ask('git', 'reset', '--quiet', '--soft', start);
    ask('git', 'checkout', '--quiet', 'HEAD', '--', 'CHANGELOG.md', 'package*.json');
    throw error;
  }
};
