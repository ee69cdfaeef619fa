import { sayCount, watchFilters } from './narrowing.ts';

// Narrows the list of repositories, also that of the doctor, whose only filter is the name. Without scripts all of them are
// listed and the filters are hidden.

const frame = document.querySelector<HTMLElement>('#repositories');
const items = [...document.querySelectorAll<HTMLElement>('#repositories > li')];

/** The names of a repository: its name, its host and its slug, which is at the end of its address. */
const namesOf = (item: HTMLElement): string => {
  const link = item.querySelector<HTMLAnchorElement>('.name');
  const [slug] = link?.pathname.split('/').slice(-2) ?? [];
  return `${link?.textContent} ${item.querySelector('.line')?.textContent} ${slug}`.toLowerCase();
};

/** The host of an address, which is what people who add repositories to a device know; any other word unchanged. */
const hostIn = (word: string): string => word.replace(/^.*:\/\//, '').replace(/\/.*$/, '');

const form = document.querySelector<HTMLFormElement>('#repository-filters');
// A search that no package fits leads here with its words.
const asked = new URLSearchParams(location.hash.slice(1)).get('name');
const name = form?.querySelector<HTMLInputElement>('[name=name]');
if (name && asked) name.value = asked;

watchFilters(form, (wanted) => {
  const quality = wanted.get('ranking');
  const kind = wanted.get('section');
  const health = wanted.get('health');
  const words = String(wanted.get('name')).toLowerCase().split(/\s+/).map(hostIn);
  let shown = 0;
  for (const item of items) {
    const names = namesOf(item);
    const fits =
      words.every((word) => names.includes(word)) &&
      (!quality || item.dataset.quality === quality) &&
      (!kind || (item.dataset.kinds ?? '').split(' ').includes(String(kind))) &&
      (!health || item.dataset.health === health);
    item.hidden = !fits;
    if (fits) shown++;
  }
  // A list without visible items would be an empty frame.
  frame?.toggleAttribute('hidden', shown === 0);
  const none = `No repository matches. Try fewer letters${health === null ? '' : ', or “Any”'}.`;
  sayCount(document.querySelector('#repository-count'), {
    shown,
    all: items.length,
    one: 'repository',
    many: 'repositories',
    none,
  });
});
