import { shellWord } from './shell-word.ts';

/** The command that gives the operator's word about a state folder, for people to copy. `word` is what follows. */
export const acceptCommand = (state: string, word: string): string =>
  `npm run accept -- --state ${shellWord(state)} ${word}`;
