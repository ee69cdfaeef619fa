import { existsSync } from 'node:fs';
import { type BuildLine, composeBuildLine } from '../catalog/build-lines.ts';
import { appendBuild } from '../catalog/build-record.ts';
import { readLastBuild } from '../catalog/last-build.ts';
import { LockedError, lockState } from '../catalog/lock.ts';
import type { PackageChange } from '../contract/generation.ts';
import type { BuildInput } from './build-input.ts';
import type { BuildResult } from './build-result.ts';
import { tellOfFailure } from './notify-step.ts';

const countChanges = (changes: readonly PackageChange[]): BuildLine['packages'] => {
  const countOf = (kind: PackageChange['change']) => changes.filter(({ change }) => change === kind).length;
  return { added: countOf('added'), updated: countOf('updated'), removed: countOf('removed') };
};

/** The line in the record of builds for a build with this result. */
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

interface Refused extends Pick<BuildInput, 'state' | 'now' | 'notifier'> {
  /** The repositories of the manifest. */
  readonly entries: readonly { readonly slug: string }[];
}

/** Adds a build to the builds on record, for the repositories that the manifest has now. */
export const rememberBuild = ({ state, entries }: Pick<Refused, 'state' | 'entries'>, line: BuildLine): void =>
  appendBuild(
    state,
    line,
    entries.map(({ slug }) => slug),
  );

/**
 * Records a build that was refused before it had the lock of its state folder, and notifies the operator, unless
 * another build has the lock. Where the lock cannot be taken for another reason, nothing is recorded.
 */
export const rememberRefusal = async (input: Refused, error: unknown): Promise<void> => {
  let unlock = () => {};
  try {
    unlock = lockState(input.state);
    rememberFailure(input, error);
  } catch (thrown) {
    if (thrown instanceof LockedError) return;
    // The folder cannot be written, of which the operator must hear in particular.
  }
  try {
    await tellOfFailure(input, error);
  } finally {
    unlock();
  }
};

/**
 * The same for a build that did not begin, because what people write has a mistake. Where no build has been yet, the
 * operator is still there to read its message.
 */
export const rememberMistake = async (input: Omit<Refused, 'entries'>, error: unknown): Promise<void> => {
  if (!existsSync(input.state)) return;
  await rememberRefusal({ ...input, entries: readLastBuild(input.state)?.repositories ?? [] }, error);
};

/** Records a build that ended before it published, if the disk can be written. */
export const rememberFailure = (input: Refused, error: unknown): void => {
  const reason = error instanceof Error ? error.message : String(error);
  const line = composeBuildLine({
    ...{ at: input.now().toISOString(), ended: 'failed', reason, outcomes: new Map(), added: [] },
    packages: { added: 0, updated: 0, removed: 0 },
  });
  try {
    rememberBuild(input, line);
  } catch {
    // Most likely a full disk, which is the error that ends the build.
  }
};
