// How a question is taken apart is one thing everywhere; pages reach it through this room.
export { joinWords, pastedPackage, splitParts, splitWords } from '../catalog/search-text.ts';
export { isOneMistakeApart } from '../catalog/spelling.ts';
