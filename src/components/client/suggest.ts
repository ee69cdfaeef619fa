import { type BeginningList, beginningLists } from '../../results/beginning-lists.ts';
import type { RowCard } from '../../results/row.ts';
import { joinWords } from '../../results/words.ts';
import { addressOf } from './address.ts';
import { Superseded } from './index-answers.ts';
import { createRow } from './row.ts';
import { findBeginning, firstOfBeginning, prepare, readBeginning, readFirstRows, search } from './search.ts';

const { shown } = beginningLists;
const searching = 'Searching…';

const createOption = (index: number, row: HTMLElement): HTMLElement => {
  const option = document.createElement('li');
  option.id = `suggestion-${index}`;
  option.role = 'option';
  option.setAttribute('aria-selected', 'false');
  row.querySelector('a')?.setAttribute('tabindex', '-1');
  option.append(row);
  return option;
};

// If there are more than fit, the last row leads to all of them.
const createLast = (text: string, words: string): HTMLElement => {
  const row = document.createElement('div');
  row.className = 'row all';
  const link = document.createElement('a');
  link.className = 'name';
  link.href = addressOf(`search/?q=${encodeURIComponent(text)}`);
  link.textContent = words;
  row.append(link);
  return row;
};

/**
 * Shows suggestions while somebody types: a list below the field, which arrow keys walk through (the combobox pattern
 * of the ARIA Authoring Practices). Without suggestions the form still leads to the search page. It is loaded when the
 * field is used, and then answers what was typed so far.
 */
export const watchSearch = (form: HTMLFormElement): void => {
  const field = form.querySelector('input');
  const list = form.querySelector<HTMLElement>('[role=listbox]');
  const status = form.querySelector('[role=status]');
  if (field === null || list === null || status === null) return;
  let asked = 0;
  let answered = 0;
  let active = -1;

  const close = () => {
    // What is still awaited does not open it again.
    asked++;
    if (status.textContent === searching) status.textContent = '';
    list.hidden = true;
    active = -1;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  };

  const options = () => [...list.children].map((option) => option.firstElementChild as HTMLElement);

  const activate = (index: number) => {
    const rows = options();
    active = rows.length === 0 ? -1 : (index + rows.length) % rows.length;
    for (const [number, row] of rows.entries()) {
      row.setAttribute('aria-selected', String(number === active));
      row.parentElement?.setAttribute('aria-selected', String(number === active));
    }
    const current = rows[active]?.parentElement;
    if (current) {
      field.setAttribute('aria-activedescendant', current.id);
      current.scrollIntoView({ block: 'nearest' });
    }
  };

  /** Replaces the shown rows. The selected one stays selected if it is among them. */
  const show = (found: readonly RowCard[], last?: HTMLElement) => {
    const walkedTo = options()[active]?.dataset.package;
    const rows = found.map(createRow);
    if (last !== undefined) rows.push(last);
    list.replaceChildren(...rows.map((row, index) => createOption(index, row)));
    list.hidden = found.length === 0;
    field.setAttribute('aria-expanded', String(found.length > 0));
    field.removeAttribute('aria-activedescendant');
    active = -1;
    const place = walkedTo === undefined ? -1 : found.findIndex(({ id }) => id === walkedTo);
    if (place >= 0) activate(place);
  };

  // Until the answer arrives, what is known and has the letters in its name: results for fewer letters, and names that
  // begin with the first two.
  let before: { readonly text: string; readonly found: readonly RowCard[] } | undefined;
  let begun: BeginningList = [];
  let beginning: string | undefined;
  const narrow = (text: string) => {
    const found = before !== undefined && !list.hidden && text.startsWith(before.text) ? before.found : [];
    const ids = new Set(found.map(({ id }) => id));
    const letters = joinWords(text);
    if (letters === '') return;
    const named = [...found, ...begun.filter(({ id }) => !ids.has(id))].filter(({ name }) =>
      joinWords(name).includes(letters),
    );
    if (named.length > 0) show(named.slice(0, shown));
  };

  const answer = async () => {
    const text = field.value.trim();
    const turn = ++asked;
    if (text.length < 2) {
      close();
      status.textContent = '';
      if (text === '') return;
      void readFirstRows(text);
      void prepare(text).catch(() => {});
      return;
    }
    if (beginning !== beginningLists.of(text)) begun = firstOfBeginning(text);
    beginning = beginningLists.of(text);
    narrow(text);
    // Where nothing is shown meanwhile, and it takes so long that one would notice.
    const awaited = setTimeout(() => {
      if (turn === asked && list.hidden) status.textContent = searching;
    }, 300);
    try {
      const only = await findBeginning(text);
      if (turn !== asked) return;
      if (only !== undefined) {
        begun = only;
        const found = only.slice(0, shown);
        before = { text, found };
        // Others may have the letters elsewhere than in their names.
        show(found, createLast(text, 'All results'));
        const suggestions = found.length === 1 ? '1 suggestion' : `${found.length} suggestions`;
        status.textContent = `${suggestions}; Enter shows all results`;
        // For the letters that follow.
        void prepare(text).catch(() => {});
        return;
      }
      void readBeginning(text).then((rows) => {
        if (turn !== asked || turn === answered || rows === begun) return;
        begun = rows;
        narrow(text);
      });
      const { total, isMore, fit, read } = await search(text, shown);
      const found = await read(0, shown);
      if (turn !== asked) return;
      answered = turn;
      before = { text, found };
      const all = isMore ? 'All results' : `All ${total.toLocaleString('en-US')} results`;
      show(found, isMore || total > shown ? createLast(text, all) : undefined);
      // The list covers this line, which is then for screen readers.
      const corrected = fit.kind === 'corrected' ? `Did you mean ${fit.meant}? ` : '';
      status.textContent =
        total === 0 ? 'Nothing found' : `${corrected}${isMore ? 'More than ' : ''}${total} found; Enter shows all`;
    } catch (error) {
      if (turn === asked && !(error instanceof Superseded))
        status.textContent = 'The search could not be loaded. Press Enter to try again.';
    } finally {
      clearTimeout(awaited);
      if (turn === asked && status.textContent === searching) status.textContent = '';
    }
  };

  void prepare().catch(() => {});
  field.addEventListener('input', () => void answer());
  field.addEventListener('keydown', (event) => {
    // Keys of an input method choose among its words. Of the last of them Safari says so by this code alone.
    if (event.isComposing || event.keyCode === 229) event.stopPropagation();
    else if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault();
      close();
      // In the header it would stand where the list stood.
      status.textContent = '';
    } else if (event.key === 'ArrowDown' && list.hidden) {
      // A closed list opens again.
      void answer();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !list.hidden) {
      event.preventDefault();
      activate(event.key === 'ArrowDown' ? active + 1 : active < 0 ? -1 : active - 1);
    } else if (event.key === 'Enter' && active >= 0) {
      event.preventDefault();
      options()[active]?.querySelector('a')?.click();
    }
  });
  form.addEventListener('focusout', (event) => {
    if (!(event.relatedTarget instanceof Node) || !form.contains(event.relatedTarget)) close();
  });
  if (field.value !== '') void answer();
};
