import { isFindingCode, operatorSentence } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import type { Baseline, Snapshot } from '../snapshots/snapshot.ts';
import { SnapshotError, type SnapshotStore } from '../snapshots/store.ts';
import { describeSigning } from './signing.ts';

/** The snapshot with the signature that it has, or has not, taken for what is usual; undefined where it is already. */
const withAcceptedSigning = (snapshot: Snapshot): Snapshot | undefined => {
  const { state, signers } = snapshot.signing;
  if (state !== 'lost' && state !== 'key-changed') return undefined;
  const signing = {
    state: state === 'lost' ? ('unsigned' as const) : ('signed' as const),
    signers,
    remembered: signers,
  };
  return { ...snapshot, signing };
};

const describe = ({ stanzas, date }: Baseline): string =>
  [
    ...(date === null ? [] : [`a release of ${date} or later`]),
    ...(stanzas === null ? [] : [`an index of about ${stanzas} packages`]),
  ].join(' and ');

/** The snapshot; none where the store has lost it, for then there is no signature to accept. */
const readWhole = async (store: SnapshotStore, slug: string): Promise<Snapshot | undefined> => {
  try {
    return await store.read(slug);
  } catch (error) {
    if (error instanceof SnapshotError && error.code === 'damaged') return undefined;
    throw error;
  }
};

/** Something of a repository that waits for the operator's word. */
export interface Waiting {
  readonly slug: string;
  readonly code: Finding['code'];
  /** Why, as a sentence. */
  readonly reason: string;
}

const signingCodes = { lost: 'signature-lost', 'key-changed': 'signature-key-changed' } as const;

const findWaiting = async (store: SnapshotStore, slug: string): Promise<Waiting[]> => {
  const { refused } = await store.readAttempts(slug);
  const snapshot = await readWhole(store, slug);
  const waiting: Waiting[] = [];
  const add = (code: Finding['code'], detail: string) =>
    waiting.push({ slug, code, reason: operatorSentence(code, detail) });
  if (refused !== null && isFindingCode(refused.code)) add(refused.code, refused.detail);
  const state = snapshot?.signing.state;
  if (snapshot && (state === 'lost' || state === 'key-changed')) {
    const code = signingCodes[state];
    add(code, describeSigning(snapshot.signing, snapshot.release.path));
  }
  return waiting;
};

/** What of these repositories waits for the operator's word, in their order. */
export const listWaiting = async (store: SnapshotStore, slugs: readonly string[]): Promise<Waiting[]> => {
  const waiting: Waiting[] = [];
  for (const slug of slugs) waiting.push(...(await findWaiting(store, slug)));
  return waiting;
};

/**
 * Takes the operator's word that what the last crawl of a repository held back is meant: an index that lost more than
 * half of its packages, a release older than the one before, or both at once; or that its signature is gone or by another key for good.
 * What was refused becomes what the next crawl compares with, so that it does not open the door to anything else.
 * Returns what was accepted, in words; empty where there was nothing. Nobody else may write to the store meanwhile.
 */
export const acceptRepository = async (store: SnapshotStore, slug: string): Promise<string[]> => {
  const words: string[] = [];
  const attempts = await store.readAttempts(slug);
  const { refused } = attempts;
  if (refused !== null) {
    // A word given before and not yet used still holds: this one adds to it.
    const stanzas = refused.stanzas ?? attempts.accepted?.stanzas ?? null;
    const accepted = { stanzas, date: refused.date ?? attempts.accepted?.date ?? null };
    await store.writeAttempts(slug, { ...attempts, refused: null, accepted });
    words.push(`The next build takes ${describe(accepted)}.`);
  }
  const snapshot = await readWhole(store, slug);
  const accepted = snapshot && withAcceptedSigning(snapshot);
  if (snapshot && accepted) {
    await store.write(accepted, []);
    const { signers } = snapshot.signing;
    const { remembered } = await store.history.read(slug);
    if (remembered) await store.history.update(slug, { remembered: { ...remembered, signers } });
    words.push(
      signers.length === 0 ? 'It may be unsigned from now on.' : `Its key is ${signers.join(', ')} from now on.`,
    );
  }
  return words;
};
