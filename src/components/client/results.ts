import { keepDevice, placeRows } from './device.ts';
import { type Results, search } from './pagefind.ts';
import { createRow } from './row.ts';

// The search page: the address holds the whole question, so that it can be shared and gone back to.

const step = 20;
const form = document.querySelector<HTMLFormElement>('#search-form');
const list = document.querySelector<HTMLElement>('#results');
const status = document.querySelector<HTMLElement>('#search-status');
const more = document.querySelector<HTMLButtonElement>('#more');
const empty = document.querySelector<HTMLElement>('#nothing');
const start = document.querySelector<HTMLElement>('#start');

const filterNames = ['section', 'repository', 'architecture', 'price'] as const;
const sorts: Readonly<Record<string, { [key: string]: 'asc' | 'desc' }>> = {
  name: { name: 'asc' },
  newest: { updated: 'desc' },
};

const begin = (
  form: HTMLFormElement,
  list: HTMLElement,
  status: HTMLElement,
  more: HTMLButtonElement,
  empty: HTMLElement,
  start: HTMLElement,
) => {
  const field = form.elements.namedItem('q') as HTMLInputElement;
  const select = (name: string) => form.elements.namedItem(name) as HTMLSelectElement;
  const heading = document.title;
  let asked = 0;
  let results: Results | undefined;
  let shown = 0;

  const show = async (turn: number) => {
    const found = (await results?.read(shown, shown + step)) ?? [];
    if (turn !== asked) return;
    const rows = found.map((one) => {
      const item = document.createElement('li');
      item.append(createRow(one));
      return item;
    });
    if (shown === 0) list.replaceChildren();
    placeRows(list, rows);
    shown += rows.length;
    more.hidden = shown >= (results?.total ?? 0);
    list.hidden = shown === 0;
  };

  const readAddress = () => {
    const parameters = new URLSearchParams(location.search);
    field.value = parameters.get('q') ?? '';
    for (const name of [...filterNames, 'sort']) select(name).value = parameters.get(name) ?? '';
  };

  const writeAddress = () => {
    const parameters = new URLSearchParams();
    const text = field.value.trim();
    if (text !== '') parameters.set('q', text);
    for (const name of [...filterNames, 'sort']) {
      if (select(name).value !== '') parameters.set(name, select(name).value);
    }
    keepDevice(parameters);
    const query = parameters.toString();
    history.replaceState(null, '', query === '' ? location.pathname : `?${query}`);
    document.title = text === '' ? heading : `${text} · ${heading}`;
  };

  const answer = async () => {
    const turn = ++asked;
    const text = field.value.trim();
    const filters: Record<string, string> = {};
    for (const name of filterNames) if (select(name).value !== '') filters[name] = select(name).value;
    const filtered = Object.keys(filters).length > 0;
    start.hidden = text !== '' || filtered;
    empty.hidden = true;
    if (text.length < 2 && !filtered) {
      results = undefined;
      shown = 0;
      list.hidden = true;
      more.hidden = true;
      status.textContent = text === '' ? '' : 'Type one more character.';
      return;
    }
    const sort = sorts[select('sort').value] ?? (text === '' ? sorts.name : undefined);
    try {
      const found = await search(text, step, sort === undefined ? { filters } : { filters, sort });
      if (turn !== asked) return;
      results = found;
      shown = 0;
      await show(turn);
      if (turn !== asked) return;
      status.textContent = `${found.total.toLocaleString('en-US')} ${found.total === 1 ? 'package' : 'packages'}`;
      empty.hidden = found.total > 0;
      const clear = empty.querySelector<HTMLElement>('#clear');
      if (clear !== null) clear.hidden = !filtered;
    } catch {
      if (turn === asked) status.textContent = 'The search could not be loaded. Check the connection and try again.';
    }
  };

  const changed = () => {
    writeAddress();
    void answer();
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    changed();
    list.querySelector<HTMLElement>('a.name')?.focus();
  });
  form.addEventListener('input', changed);
  empty.querySelector('#clear')?.addEventListener('click', () => {
    for (const name of filterNames) select(name).value = '';
    changed();
    field.focus();
  });
  more.addEventListener('click', async () => {
    const from = shown;
    await show(asked);
    list.children[from]?.querySelector<HTMLElement>('a.name')?.focus();
  });
  addEventListener('popstate', () => {
    readAddress();
    void answer();
  });
  // Arrow keys go from the field into the results and back.
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const names = [...list.querySelectorAll<HTMLElement>('a.name')];
    const at = names.indexOf(document.activeElement as HTMLElement);
    if (at < 0 && document.activeElement !== field) return;
    const next = at + (event.key === 'ArrowDown' ? 1 : -1);
    if (next >= names.length || next < -1 || (at < 0 && event.key === 'ArrowUp')) return;
    event.preventDefault();
    (next < 0 ? field : names[next])?.focus();
  });

  readAddress();
  void answer();
};

if (form && list && status && more && empty && start) begin(form, list, status, more, empty, start);
