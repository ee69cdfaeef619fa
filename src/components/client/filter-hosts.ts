import { sayCount, watchFilters } from './narrowing.ts';

// Narrows the list of unsafe addresses. Without scripts all of them are listed and the field is hidden.

const groups = [...document.querySelectorAll<HTMLElement>('#unsafe .card')];
const entries = [...document.querySelectorAll<HTMLElement>('#unsafe .hosts > li')];

/** Whether an entry covers an address: a host covers every name below it, a path everything below it. */
const covers = (entry: string, address: string): boolean => {
  const host = address.split('/', 1)[0] ?? '';
  const entryHost = entry.split('/', 1)[0] ?? '';
  if (host !== entryHost && !host.endsWith(`.${entryHost}`)) return false;
  return `${address.slice(host.length)}/`.startsWith(`${entry.slice(entryHost.length)}/`);
};

/**
 * The host and path of what is typed. What is pasted is mostly a whole address, a line for sources.list, or a link that has
 * an address in it: of these no user, port or query is listed.
 */
const addressIn = (typed: string): string =>
  typed
    .replace(/^.*:\/\//, '')
    .replace(/[\s?#].*$/, '')
    .replace(/^[^/@]*@/, '')
    .replace(/^([^/:]*):\d*/, '$1')
    .replace(/^([^/]*[^/.])\.(?=\/|$)/, '$1')
    .replace(/\/+$/, '');

watchFilters(document.querySelector<HTMLFormElement>('#host-filter'), (wanted) => {
  const address = addressIn(String(wanted.get('host')).trim().toLowerCase());
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
