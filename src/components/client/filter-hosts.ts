import { sayCount, watchFilters } from './narrowing.ts';

// Narrows the list of unsafe addresses; without scripts all of them are listed and the field is hidden.

const groups = [...document.querySelectorAll<HTMLElement>('#unsafe .card')];
const entries = [...document.querySelectorAll<HTMLElement>('#unsafe .hosts > li')];

/** Whether an entry speaks of an address: a host covers every name below it, a path what lies below it. */
const covers = (entry: string, address: string): boolean => {
  const host = address.split('/', 1)[0] ?? '';
  const entryHost = entry.split('/', 1)[0] ?? '';
  if (host !== entryHost && !host.endsWith(`.${entryHost}`)) return false;
  return `${address.slice(host.length)}/`.startsWith(`${entry.slice(entryHost.length)}/`);
};

watchFilters(document.querySelector<HTMLFormElement>('#host-filter'), (wanted) => {
  // What is pasted is mostly a whole address.
  const typed = String(wanted.get('host')).trim().toLowerCase();
  const address = typed.replace(/^[a-z]+:\/\//, '').replace(/\/+$/, '');
  let shown = 0;
  for (const entry of entries) {
    const text = entry.textContent.trim().toLowerCase();
    const fits = text.includes(address) || covers(text, address);
    entry.hidden = !fits;
    if (fits) shown++;
  }
  for (const group of groups) group.hidden = group.querySelector('.hosts > li:not([hidden])') === null;
  const none = 'No listed address matches. Yours is not necessarily safe.';
  sayCount(document.querySelector('#host-count'), {
    shown,
    all: entries.length,
    one: 'address',
    many: 'addresses',
    none,
  });
});
