// What the page of the search needs as soon as something is asked there, and not before.
export { countWords, fitMarkup } from '../../results/search-page.ts';
export { createFacetOptions } from './facet-options.ts';
export { createItem } from './row.ts';
export { search } from './search.ts';

import './arrow-keys.ts';
