import { sayCount, watchFilters } from './narrowing.ts';

// Narrows the list of repositories; without scripts all of them are listed and the filters are hidden.

const frame = document.querySelector<HTMLElement>('#repositories');
const items = [...document.querySelectorAll<HTMLElement>('#repositories > li')];

/** What a repository is looked for by: its name, its host and its slug, which its address ends with. */
const namesOf = (item: HTMLElement): string => {
  const link = item.querySelector<HTMLAnchorElement>('.name');
  const [slug] = link?.pathname.split('/').slice(-2) ?? [];
  return `${link?.textContent} ${item.querySelector('.line')?.textContent} ${slug}`.toLowerCase();
};

/** The host alone of an address, as who adds a repository to a device knows it; any other word as it is. */
const hostIn = (word: string): string => word.replace(/^https?:\/\//, '').replace(/\/.*$/, '');

watchFilters(document.querySelector<HTMLFormElement>('#repository-filters'), (wanted) => {
  const quality = wanted.get('ranking');
  const kind = wanted.get('section');
  const health = wanted.get('health');
  const words = String(wanted.get('name')).toLowerCase().split(/\s+/).map(hostIn);
  let shown = 0;
  for (const item of items) {
    const names = namesOf(item);
    const fits =
      words.every((word) => names.includes(word)) &&
      (quality === '' || item.dataset.quality === quality) &&
      (kind === '' || (item.dataset.kinds ?? '').split(' ').includes(String(kind))) &&
      (health === '' || item.dataset.health === health);
    item.hidden = !fits;
    if (fits) shown++;
  }
  // A list of which nothing is shown is an empty frame.
  frame?.toggleAttribute('hidden', shown === 0);
  const none = 'No repository matches. Try fewer letters, or “Any”.';
  sayCount(document.querySelector('#repository-count'), {
    shown,
    all: items.length,
    one: 'repository',
    many: 'repositories',
    none,
  });
});
