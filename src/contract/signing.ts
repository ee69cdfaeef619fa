/**
 * How a release can be signed, each with a sentence that says what it means. What is wrong is a finding besides
 * (finding-texts.ts); the first three are not.
 */
export const signingTexts = {
  unsigned: 'The repository is not signed.',
  signed: 'The repository is signed by the same key as before; nobody has named its key, so that it is not verified.',
  verified: 'The repository is signed by its key, which was verified.',
  lost: 'The repository was signed before and is no longer.',
  unanswered: 'The server did not say whether the repository is signed.',
  bad: 'The signature does not fit what it stands with.',
  weak: 'The signature uses methods that prove nothing any more.',
  'key-changed': 'The repository is signed by another key than before.',
  'key-expired': 'The key of the repository has expired.',
  'key-revoked': 'The key of the repository was revoked.',
  'signature-expired': 'The signature has expired.',
} as const;
export type SigningState = keyof typeof signingTexts;

export const signingStates = Object.keys(signingTexts) as SigningState[];
