import { searchPage } from './search-page.ts';

/** A regular expression for the query string of a search. */
export const askedQuery = `(?:^|&)${searchPage.parameter}=[^&]`;
