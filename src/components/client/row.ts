import { addressOf } from './address.ts';
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

const icon = ({ meta }: Found): HTMLImageElement => {
  const image = document.createElement('img');
  const drawing = addressOf(`icons/sections/${encodeURIComponent(meta.kind)}.svg`);
  image.className = 'icon';
  image.width = 44;
  image.height = 44;
  image.alt = '';
  image.loading = 'lazy';
  image.referrerPolicy = 'no-referrer';
  if (meta.icon !== undefined && /^https?:\/\//.test(meta.icon)) {
    image.dataset.fallback = drawing;
    image.src = meta.icon;
  } else {
    image.src = drawing;
  }
  return image;
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
  end.append(element('span', 'mono', meta.version), element('span', 'place', meta.place));
  if (meta.paid !== undefined) end.append(element('span', 'chip fair', 'Paid'));
  row.append(icon(found), body, end);
  return row;
};
