import type { Baseline, Snapshot } from '../snapshots/snapshot.ts';
import { SnapshotError, type SnapshotStore } from '../snapshots/store.ts';
import { withSigning } from './signing.ts';

/** The snapshot with the signature that it has, or has not, taken for what is usual; undefined where it is already. */
const withAcceptedSigning = (snapshot: Snapshot): Snapshot | undefined => {
  const { state, signers } = snapshot.signing;
  if (state !== 'lost' && state !== 'key-changed') return undefined;
  const signing = {
    state: state === 'lost' ? ('unsigned' as const) : ('signed' as const),
    signers,
    remembered: signers,
  };
  return { ...snapshot, signing, findings: withSigning(snapshot.findings, signing, snapshot.release.path) };
};

const describe = ({ stanzas, date }: Baseline): string =>
  stanzas === null ? `a release of ${date} or later` : `an index of about ${stanzas} packages`;

/** The snapshot; none where the store has lost it, for then there is no signature to accept. */
const readWhole = async (store: SnapshotStore, slug: string): Promise<Snapshot | undefined> => {
  try {
    return await store.read(slug);
  } catch (error) {
    if (error instanceof SnapshotError && error.code === 'damaged') return undefined;
    throw error;
  }
};

/**
 * Takes the operator's word that what the last crawl of a repository held back is meant: an index that lost more than
 * half of its packages, a release older than the one before; or that its signature is gone or by another key for good.
 * What was refused becomes what the next crawl compares with, so that it does not open the door to anything else.
 * Returns what was accepted, in words; empty where there was nothing. Nobody else may write to the store meanwhile.
 */
export const acceptRepository = async (store: SnapshotStore, slug: string): Promise<string[]> => {
  const words: string[] = [];
  const attempts = await store.readAttempts(slug);
  const { refused } = attempts;
  if (refused !== null) {
    const { stanzas, date } = refused;
    await store.writeAttempts(slug, { ...attempts, refused: null, accepted: { stanzas, date } });
    words.push(`The next build takes ${describe(refused)}.`);
  }
  const snapshot = await readWhole(store, slug);
  const accepted = snapshot && withAcceptedSigning(snapshot);
  if (snapshot && accepted) {
    await store.write(accepted, []);
    const { signers } = snapshot.signing;
    const { remembered, ...now } = await store.readAttempts(slug);
    if (remembered) await store.writeAttempts(slug, { ...now, remembered: { ...remembered, signers } });
    words.push(
      signers.length === 0 ? 'It may be unsigned from now on.' : `Its key is ${signers.join(', ')} from now on.`,
    );
  }
  return words;
};
