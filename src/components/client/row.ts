import { hueOf, lettersOf } from '../../site/monogram.ts';
import { tellOf } from './device.ts';
import type { Found } from './pagefind.ts';

const element = (name: string, className: string, text?: string): HTMLElement => {
  const node = document.createElement(name);
  node.className = className;
  if (text !== undefined) {
    node.textContent = text;
    node.dir = 'auto';
  }
  return node;
};

/** Its letters, and over them the icon where it has one that loads. */
const tile = ({ meta }: Found): HTMLElement => {
  const letters = element('span', `monogram hue-${hueOf(meta.id)}`);
  letters.ariaHidden = 'true';
  letters.append(lettersOf(meta.title));
  if (meta.icon === undefined || !/^https?:\/\//.test(meta.icon)) return letters;
  const image = document.createElement('img');
  image.width = 44;
  image.height = 44;
  image.alt = '';
  image.loading = 'lazy';
  image.referrerPolicy = 'no-referrer';
  image.dataset.fallback = '';
  image.src = meta.icon;
  letters.append(image);
  return letters;
};

/** One found package as a row of a list, like those the server renders. Text stays text. */
export const createRow = (found: Found): HTMLElement => {
  const { meta } = found;
  const row = element('div', 'row');
  const body = element('div', 'body');
  const name = document.createElement('a');
  name.className = 'name';
  name.dir = 'auto';
  name.href = found.url;
  name.textContent = meta.title;
  body.append(name, element('p', 'line', meta.summary ?? meta.id));
  const end = element('p', 'end');
  end.append(element('span', 'mono', meta.version));
  if (meta.paid !== undefined) end.append(element('span', 'chip fair', 'Paid'));
  end.append(element('span', 'place', meta.place));
  row.append(tile(found), body, end);
  if (meta.runs !== undefined) row.dataset.runs = meta.runs;
  tellOf(row);
  return row;
};
