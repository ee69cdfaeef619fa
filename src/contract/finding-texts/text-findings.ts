/**
 * The texts of a finding. `broken` keeps packages or updates from people, `weak` is a risk, `note` is worth tidying.
 */
export interface FindingText {
  /** What is wrong, in a few words. */
  readonly title: string;
  /** A sentence for the operator of the index, with "{}" for the evidence. */
  readonly operator: string;
  /** A sentence that tells the owner of the repository how to fix it. */
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
