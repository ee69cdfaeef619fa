import type { SigningState } from '../contract/signing-states.ts';
import type { Health } from './shown-findings.ts';

/** A state of signing in a word, for tables and labels, and its health; without `health` it is neither good nor bad. */
export const signingWords: Readonly<Record<SigningState, { readonly word: string; readonly health?: Health }>> = {
  unsigned: { word: 'Not signed' },
  signed: { word: 'Signed', health: 'good' },
  verified: { word: 'Verified', health: 'good' },
  lost: { word: 'No longer signed', health: 'poor' },
  unanswered: { word: 'Unknown' },
  bad: { word: 'Bad signature', health: 'poor' },
  weak: { word: 'Weak signature', health: 'fair' },
  binary: { word: 'Binary signature', health: 'fair' },
  'key-changed': { word: 'Another key', health: 'poor' },
  'key-expired': { word: 'Key expired', health: 'fair' },
  'key-revoked': { word: 'Key revoked', health: 'poor' },
  'signature-expired': { word: 'Signature expired', health: 'fair' },
};
