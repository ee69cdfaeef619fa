import { describeOtherFormat } from '../../src/catalog/state-catalog.ts';

/**
 * Returns a function that tells if another version of Debdex made the catalog in force, once as long as that stays so.
 * What answers from it does so all the same: most versions differ in a part of it, and a first build takes long.
 */
export const watchOtherCatalog = (state: string, tell: (sentence: string) => void): (() => void) => {
  let told: string | undefined;
  return () => {
    const sentence = describeOtherFormat(state);
    if (sentence !== undefined && sentence !== told) tell(sentence);
    told = sentence;
  };
};
