import { findCalled, type OfferedRepository } from '../../results/called-repository.ts';
import { escapeMarkup } from '../../results/markup.ts';
import type { Fit } from '../../results/meant.ts';
import { noteMarkup } from '../../results/search-page.ts';
import { addressOf } from './address.ts';

// As the page offers them: later only those that the results are in are left.
const offered = Array.from(
  document.querySelectorAll<HTMLOptionElement>('select[name=repository] > option:not([value=""])'),
  ({ value, text }): OfferedRepository => [value, escapeMarkup(text)],
);

/** What is said above so many results, as markup. Where they are narrowed, less of that is the way to find anything. */
export const noteOf = (fit: Fit, question: string, total: number, isNarrowed: boolean): string =>
  noteMarkup(fit, question, addressOf(''), total === 0 && !isNarrowed, isNarrowed ? [] : findCalled(question, offered));
