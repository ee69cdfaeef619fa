import type { ExplainedSafetyList, SafetyPlace } from './safety-list.ts';

/** What the safety list says of a repository. */
export interface FoundUnsafe<Entry> {
  readonly entry: Entry;
  /** The address that it redirects to, if that is what the list names. */
  readonly target: string | undefined;
}

/**
 * What the safety list says of a repository by its address or, since what is published of it comes from there, by those
 * that it redirects to; undefined if it names none of them.
 */
export const findUnsafe = <Entry extends SafetyPlace>(
  { find }: Pick<ExplainedSafetyList<Entry>, 'find'>,
  uri: string,
  targets: readonly string[],
): FoundUnsafe<Entry> | undefined => {
  for (const target of [undefined, ...targets]) {
    const entry = find(target ?? uri);
    if (entry !== undefined) return { entry, target };
  }
  return undefined;
};
