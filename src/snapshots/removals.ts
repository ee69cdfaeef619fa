import path from 'node:path';
import { z } from 'zod';
import { acceptCommand } from '../contract/accept-command.ts';
import { readJsonFile } from '../disk/json-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';

const removalsSchema = z.strictObject({
  /** Slugs that left the manifest at once, and whose repositories stay for now. */
  held: z.array(z.string()),
  /** Slugs whose removal the operator has accepted. */
  accepted: z.array(z.string()),
});

/** What is remembered about entries that left the manifest, for all repositories together. */
type Removals = Readonly<z.infer<typeof removalsSchema>>;

const removalsPath = (state: string): string => path.join(state, 'removals.json');

// If the file is lost, the operator is asked once more.
const readRemovals = (state: string): Removals =>
  readJsonFile(removalsPath(state), removalsSchema) ?? { held: [], accepted: [] };

const writeRemovals = (state: string, removals: Removals): void =>
  writeWholeFile(removalsPath(state), `${JSON.stringify(removals, null, 1)}\n`);

/** So many entries left the manifest at once that the operator is asked first; see `holdRemovals`. */
export class RemovalsHeld extends Error {
  override readonly name = 'RemovalsHeld';
  readonly slugs: readonly string[];

  /** `state`: the state folder. Without it nothing is kept, and so nothing is held that a word could be about. */
  constructor(slugs: readonly string[], state?: string) {
    const shown = slugs.slice(0, 20).join(', ');
    const rest = slugs.length > 20 ? ` and ${slugs.length - 20} more` : '';
    const meant =
      state === undefined
        ? 'build without --dry-run, which holds them back and says how to confirm it'
        : `say so with ${acceptCommand(state, '--removals')} and build again`;
    super(
      `${slugs.length} repositories are no longer in the manifest: ${shown}${rest}. If they were removed on purpose, ${meant}; otherwise put them back.`,
    );
    this.slugs = slugs;
  }
}

/** Whether the operator has accepted the removal of all these slugs. */
export const areRemovalsAccepted = (state: string, slugs: readonly string[]): boolean => {
  const accepted = new Set(readRemovals(state).accepted);
  return slugs.every((slug) => accepted.has(slug));
};

/** Holds back the removal of these slugs until `acceptRemovals`. Returns the error for the operator. */
export const holdRemovals = (state: string, slugs: readonly string[]): RemovalsHeld => {
  writeRemovals(state, { ...readRemovals(state), held: [...slugs].sort() });
  return new RemovalsHeld(slugs, state);
};

/** The slugs whose removal waits for the operator's decision. */
export const listHeldRemovals = (state: string): readonly string[] => readRemovals(state).held;

/** Accepts the removals that are held back. Returns the slugs; empty if there were none. */
export const acceptRemovals = (state: string): readonly string[] => {
  const { held } = readRemovals(state);
  if (held.length > 0) writeRemovals(state, { held: [], accepted: [...held] });
  return held;
};

/** Forgets both, when the manifest lacks nothing any more or the removals were carried out. */
export const forgetRemovals = (state: string): void => {
  const { held, accepted } = readRemovals(state);
  if (held.length + accepted.length > 0) writeRemovals(state, { held: [], accepted: [] });
};
