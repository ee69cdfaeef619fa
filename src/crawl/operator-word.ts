import { isFindingCode, operatorSentence } from '../contract/finding-texts.ts';
import type { Finding } from '../contract/findings.ts';
import type { Baseline, Snapshot } from '../snapshots/snapshot.ts';
import { SnapshotError, type SnapshotStore } from '../snapshots/store.ts';
import { saySecond, sayStanzas } from './crawl-error.ts';
import { describeSigning } from './signing.ts';

/** The snapshot with its present signature, or the lack of one, accepted as usual; undefined if it is already. */
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
    ...(date === null ? [] : [`a release of ${saySecond(date)} or later`]),
    ...(stanzas === null ? [] : [`an index of about ${sayStanzas(stanzas)}`]),
  ].join(' and ');

/** The snapshot; undefined if the store has lost it, because then there is no signature to accept. */
const readWhole = async (store: SnapshotStore, slug: string): Promise<Snapshot | undefined> => {
  try {
    return await store.read(slug);
  } catch (error) {
    if (error instanceof SnapshotError && error.code === 'damaged') return undefined;
    throw error;
  }
};

/** A repository with something that waits for the operator's decision. */
export interface Waiting {
  readonly slug: string;
  readonly code: Finding['code'];
  /** The reason, as a sentence. */
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

/** What waits for the operator's decision in these repositories, in their order. */
export const listWaiting = async (store: SnapshotStore, slugs: readonly string[]): Promise<Waiting[]> => {
  const waiting: Waiting[] = [];
  for (const slug of slugs) waiting.push(...(await findWaiting(store, slug)));
  return waiting;
};

/**
 * Accepts what the last crawl of a repository held back: an index that lost more than half of its stanzas, a release
 * older than the last one, or both; or a signature that is gone or has another key for good. The next crawl compares
 * with what was refused, so that nothing else is accepted with it. Returns what was accepted, in words; empty if there
 * was nothing. Nobody else may write to the store meanwhile.
 */
export const acceptRepository = async (store: SnapshotStore, slug: string): Promise<string[]> => {
  const words: string[] = [];
  const attempts = await store.readAttempts(slug);
  const { refused } = attempts;
  if (refused !== null) {
    // An earlier acceptance that has not been used yet still holds; this one adds to it.
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
