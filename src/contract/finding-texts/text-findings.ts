/**
 * What a finding means. `broken` keeps packages or updates away from people, `weak` risks something, `note` is worth
 * tidying.
 */
export interface FindingText {
  /** What is wrong, in a few words. */
  readonly title: string;
  /** A sentence for the operator of the index; "{}" stands for the evidence. */
  readonly operator: string;
  /** A sentence for the owner of the repository that says how to mend it. */
  readonly owner: string;
  readonly weight: 'broken' | 'weak' | 'note';
}

type Compose = (title: string, operator: string, owner: string) => FindingText;

const compose =
  (weight: FindingText['weight']): Compose =>
  (title, operator, owner) => ({ title, operator, owner, weight });

export const broken = compose('broken');
export const weak = compose('weak');
export const note = compose('note');
