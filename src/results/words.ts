// Queries are divided into words in the same way everywhere. Pages use this room for that.
export { foldText, joinWords, pastedPackage, splitParts, splitWords } from '../catalog/search-text.ts';
export { isOneMistakeApart } from '../catalog/spelling.ts';
