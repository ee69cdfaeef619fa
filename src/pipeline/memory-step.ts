import { type BuildLine, composeBuildLine } from '../catalog/build-lines.ts';
import { appendBuild } from '../catalog/build-record.ts';
import { lockState } from '../catalog/lock.ts';
import type { PackageChange } from '../contract/generation.ts';
import type { BuildInput } from './build-input.ts';
import type { BuildResult } from './build-result.ts';
import { tellOfFailure } from './notify-step.ts';

const countChanges = (changes: readonly PackageChange[]): BuildLine['packages'] => {
  const countOf = (kind: PackageChange['change']) => changes.filter(({ change }) => change === kind).length;
  return { added: countOf('added'), updated: countOf('updated'), removed: countOf('removed') };
};

/** What a build is remembered by that came to this. */
export const composeLine = ({ outcomes, lastBuild, newSlugs, packageChanges, statistics }: BuildResult): BuildLine => {
  const visited = new Set(outcomes.map(({ slug }) => slug));
  return composeBuildLine({
    at: lastBuild.builtAt,
    total: statistics?.packages,
    ended: statistics === undefined ? 'nothing' : 'published',
    packages: countChanges(packageChanges),
    outcomes: new Map(
      lastBuild.repositories.map(({ slug, outcome }) => [slug, visited.has(slug) ? outcome : 'unvisited']),
    ),
    added: newSlugs,
  });
};

export const rememberBuild = ({ state, entries }: Pick<BuildInput, 'state' | 'entries'>, line: BuildLine): void =>
  appendBuild(
    state,
    line,
    entries.map(({ slug }) => slug),
  );

type Refused = Pick<BuildInput, 'state' | 'entries' | 'now' | 'notifier'>;

/**
 * Remembers a build that was refused before it had the lock of its state folder, and tells of it, unless another build
 * has it.
 */
export const rememberRefusal = async (input: Refused, error: unknown): Promise<void> => {
  try {
    const unlock = lockState(input.state);
    try {
      rememberFailure(input, error);
      await tellOfFailure(input, error);
    } finally {
      unlock();
    }
  } catch {
    // Another build is at work, or the disk takes nothing: what the build ends with says so.
  }
};

/** Remembers a build that ended before it published, as far as the disk lets it. */
export const rememberFailure = (input: Refused, error: unknown): void => {
  const reason = error instanceof Error ? error.message : String(error);
  const line = composeBuildLine({
    ...{ at: input.now().toISOString(), ended: 'failed', reason, outcomes: new Map(), added: [] },
    packages: { added: 0, updated: 0, removed: 0 },
  });
  try {
    rememberBuild(input, line);
  } catch {
    // A full disk, most likely, which is what the build ends with.
  }
};
