// The functions that the search page needs only after the first query.
export { countWords } from '../../results/search-page.ts';
export { createFacetOptions } from './facet-options.ts';
export { noteOf } from './note.ts';
export { createItem } from './row.ts';
export { search } from './search.ts';

import './arrow-keys.ts';
