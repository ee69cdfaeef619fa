/**
 * The ways in which a release can be signed, with a sentence about the meaning of each. A fault is also a finding
 * (finding-texts.ts); the first three are no faults.
 */
export const signingTexts = {
  unsigned: 'The repository is not signed.',
  signed:
    'The repository is signed. Its key is not known here, so the signature is not verified, but a change of key would be noticed.',
  verified: 'The repository is signed by its key, which was verified.',
  lost: 'The repository was signed before and is no longer.',
  unanswered: 'The server did not say whether the repository is signed.',
  bad: 'The signature does not match the Release.',
  weak: 'The signature uses methods that are no longer secure.',
  binary: 'The signature is binary, and APT accepts only armoured ones.',
  'key-changed': 'The repository is signed by a key other than the one known for it.',
  'key-expired': 'The key of the repository, as it is known here, has expired.',
  'key-revoked': 'The key of the repository was revoked.',
  'signature-expired': 'The signature has expired.',
} as const;
export type SigningState = keyof typeof signingTexts;

export const signingStates = Object.keys(signingTexts) as SigningState[];
