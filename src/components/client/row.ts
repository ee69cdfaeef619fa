import type { ListedPackage } from '../../results/found.ts';
import { type RowCard, rowMarkup } from '../../results/row.ts';
import { partClass } from '../../results/search-page.ts';
import { addressOf } from './address.ts';
import { tellOf } from './visitor-device.ts';

/** A found package as a row of a list, the same as the server renders. */
export const createRow = (card: RowCard): HTMLElement => {
  const template = document.createElement('template');
  // All text in it was escaped there.
  template.innerHTML = rowMarkup(card, { root: addressOf('') });
  const row = template.content.firstElementChild as HTMLElement;
  tellOf(row);
  return row;
};

/** A found package as an item of the list of results, the same as the server renders. */
export const createItem = (one: ListedPackage): HTMLElement => {
  const item = document.createElement('li');
  if (one.isPart) item.className = partClass;
  item.append(createRow(one));
  return item;
};
