import type { PackageOrder } from '../../contract/parameters.ts';
import { lengthWords } from '../../contract/search-length.ts';
import { searchPage } from '../../contract/search-page.ts';
import type { Chosen } from '../../results/chosen-facets.ts';
import { presentSlug } from '../../results/former-slugs.ts';
import type { Results } from './search.ts';
import { stateRows } from './stated.ts';
import { hasDevice, keepDevice, placeRows } from './visitor-device.ts';

// The search page. Its address contains the whole query, so that it can be shared and returned to.

// Not from the module that counts them, which is loaded after the first query.
const { facets: facetNames, step } = searchPage;
/** Where so many of the first results may run on the visitor's device, no further ones are looked at for others. */
const enough = step / 2;

const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const form = byId<HTMLFormElement>('search-form');
const [list, status, fit] = [byId('results'), byId('search-status'), byId('fit')];
const [more, pages, empty, start] = [
  byId<HTMLButtonElement>('more'),
  byId('more-pages'),
  byId('nothing'),
  byId('start'),
];
const facets = byId<HTMLDetailsElement>('facets');
const chosenCount = byId('chosen-count');
const field = form.elements.namedItem('q') as HTMLInputElement;
const select = (name: string) => form.elements.namedItem(name) as HTMLSelectElement;
const heading = form.dataset.heading ?? '';

type Listing = typeof import('./listing.ts');
let loading: Promise<Listing> | undefined;
const load = (): Promise<Listing> => {
  loading ??= import('./listing.ts').catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
};
let options: ReturnType<Listing['createFacetOptions']> | undefined;

let asked = 0;
let isUnloaded = false;
let results: Results | undefined;
let shown = 0;
/** How many of the shown rows the function sent. It does not know the device, so others are shown in places of a search. */
let sent = 0;

const question = () => field.value.trim();
const chosen = (): Chosen =>
  Object.fromEntries(facetNames.flatMap((name) => (select(name).value === '' ? [] : [[name, select(name).value]])));

/** The chosen order, from its select element. */
const sorted = () => (select('sort').value || undefined) as PackageOrder;

/** The scroll position when a result was followed, to return to. */
interface Left {
  readonly shown: number;
  readonly sent?: number;
  readonly at: string;
  readonly y: number;
}

const writeState = (state: Left | null, address?: string, isStep = false): void => {
  try {
    if (isStep) history.pushState(state, '', address);
    else history.replaceState(state, '', address);
    // Browsers scroll smoothly to the old position as far as the page reaches, while this script has already gone
    // there, and both would add up.
    history.scrollRestoration = state ? 'manual' : 'auto';
  } catch {
    // Browsers limit how often this may be called. The next change writes it.
  }
};

/** Reads the address. Returns whether the page offers everything that it names; anything else is ignored. */
const readAddress = (): boolean => {
  const parameters = new URLSearchParams(location.search);
  field.value = parameters.get('q') ?? '';
  options?.reset();
  let isAsAsked = true;
  for (const name of [...facetNames, 'sort']) {
    const asked = parameters.get(name) ?? '';
    // Except in slugs, letter case does not matter.
    const value = name === 'repository' ? presentSlug(form.dataset.former ?? '', asked) : asked.toLowerCase();
    select(name).value = value;
    if (select(name).selectedIndex < 0) select(name).value = '';
    isAsAsked &&= select(name).value === value;
  }
  return isAsAsked;
};

const entitle = () => {
  document.title = question() === '' ? heading : `${question()} · ${heading}`;
};

const writeAddress = (isStep: boolean) => {
  const parameters = new URLSearchParams();
  if (question() !== '') parameters.set('q', question());
  for (const name of [...facetNames, 'sort']) if (select(name).value !== '') parameters.set(name, select(name).value);
  keepDevice(parameters);
  const query = `${parameters}`;
  // A scroll position that was stored for the query left behind is out of date.
  if (isStep) writeState(null);
  writeState(null, query ? `?${query}` : location.pathname, isStep);
};

/** Shows how many values are chosen; whether results are narrowed. */
const tellChosen = (): boolean => {
  const isNarrowed = Object.keys(chosen()).length > 0;
  byId('clear').hidden = !isNarrowed;
  const count = [...facetNames, 'sort'].filter((name) => select(name).value !== '').length;
  chosenCount.hidden = count === 0;
  chosenCount.textContent = `${count} chosen`;
  return isNarrowed;
};

const focusRow = (id: string) =>
  list.querySelector<HTMLElement>(`[data-package="${CSS.escape(id)}"] .name`)?.focus({ preventScroll: true });

const show = async (turn: number, until: number) => {
  const [{ createItem }, found = []] = await Promise.all([load(), results?.read(shown, until)]);
  if (turn !== asked) return;
  // Who has come to a row by the keyboard meanwhile stays there.
  const walkedTo = list.querySelector(':focus')?.closest<HTMLElement>('[data-package]')?.dataset.package;
  if (shown === 0) list.replaceChildren();
  placeRows(list, found.map(createItem));
  if (shown === 0 && walkedTo !== undefined) focusRow(walkedTo);
  shown += found.length;
  more.hidden = shown >= (results?.total ?? 0) && results?.isMore !== true;
  list.hidden = shown === 0;
};

const count = async (turn: number) => {
  // Of a query that was replaced meanwhile, or while more is read: its request would end that one.
  if (turn !== asked || more.disabled || !facets.open || results === undefined) return;
  const [{ createFacetOptions }, { counts, isPart }] = await Promise.all([load(), results.count()]);
  if (turn !== asked) return;
  options ??= createFacetOptions(select);
  options.show(counts, isPart);
};

// Counting waits until typing has stopped, because it may need a request of its own.
let counting: ReturnType<typeof setTimeout> | undefined;
const countSoon = (turn: number) => {
  clearTimeout(counting);
  counting = setTimeout(() => void count(turn).catch(() => {}), 300);
};

const clear = (words: string) => {
  results = undefined;
  shown = 0;
  options?.reset();
  for (const one of [list, more, fit]) one.hidden = true;
  status.textContent = words;
};

const tell = async ({ total, isMore, parts, fit: how }: Results) => {
  const { countWords, noteOf } = await load();
  status.textContent = countWords(total, isMore, parts);
  // Where something is chosen, less of that is the way to find anything.
  const markup = noteOf(how, question(), total, !byId('clear').hidden);
  fit.hidden = !markup;
  // The query and the names in it are already escaped.
  fit.innerHTML = markup;
  empty.hidden = total > 0;
};

// What stands there answers the question before: where the next answer takes so long that one would notice, it says so.
let awaited: ReturnType<typeof setTimeout> | undefined;
const wait = () => {
  clearTimeout(awaited);
  awaited = setTimeout(() => {
    status.textContent = 'Searching…';
    list.setAttribute('aria-busy', 'true');
  }, 300);
};
const endWait = () => {
  clearTimeout(awaited);
  list.removeAttribute('aria-busy');
};

const answer = async (left?: Left | null) => {
  const turn = ++asked;
  entitle();
  const [text, narrowed] = [question(), chosen()];
  const isNarrowed = tellChosen();
  start.hidden = text !== '' || isNarrowed;
  empty.hidden = true;
  pages.hidden = true;
  // The limits of the index, which also apply to the files.
  const unfit = lengthWords([...text].length);
  endWait();
  if (unfit !== undefined && !(isNarrowed && text === '')) {
    clear(text && unfit);
    return;
  }
  wait();
  try {
    const { search } = await load();
    const wanted = Math.max(step, left?.shown ?? 0);
    const found = await search(text, wanted, narrowed, sorted(), true, left?.sent);
    if (turn !== asked) return;
    isUnloaded = false;
    results = found;
    shown = 0;
    sent = left?.sent ?? 0;
    await show(turn, wanted);
    if (turn !== asked) return;
    await tell(found);
    countSoon(turn);
    if (left) comeBack(left);
  } catch (error) {
    // A newer query replaced it, here or in the header.
    if (turn !== asked || (error as Error).name === 'Superseded') return;
    isUnloaded = true;
    clear('The search could not be loaded. Check the connection, and press Enter to try again.');
  } finally {
    if (turn === asked) endWait();
  }
};

const comeBack = (left: Left) => {
  focusRow(left.at);
  scrollTo({ top: left.y, behavior: 'instant' });
  // A browser that reloads the page may remove the focus before it has shown the page.
  if (document.readyState !== 'complete')
    addEventListener('load', () => document.activeElement === document.body && focusRow(left.at));
};

/** `isStep`: the visitor can go back to what was shown before. */
const changed = (isStep = false) => {
  writeAddress(isStep);
  void answer();
};

// The function sent the page with its results. They stay, and are only requested again if more are wanted.
const adopt = () => {
  tellChosen();
  shown = list.querySelectorAll('[data-package]').length;
  sent = shown;
  more.hidden = pages.querySelector('[rel=next]') === null;
  pages.hidden = true;
  entitle();
};

// The function does not know the device, and its rows state less than the lists do.
const adoptForDevice = async (left: Left | null) => {
  const turn = asked;
  const fitting = await stateRows(list);
  if (turn !== asked || results !== undefined) return;
  // The device may be another than when a row was followed.
  if (fitting < enough && !more.hidden) await answer(left && { ...left, sent: 0 });
  else if (left && left.shown > shown) await answer(left);
  else if (left) comeBack(left);
};

const readMore = async () => {
  const turn = asked;
  if (results === undefined) {
    const { search } = await load();
    const found = await search(question(), shown + step, chosen(), sorted(), true, shown);
    if (turn !== asked) return;
    // After the rows that are shown, theirs would show some again, and others never.
    if (found.isOfFiles) throw new Error('in another order');
    results = found;
  }
  await show(turn, shown + step);
  if (results) await tell(results);
};

form.addEventListener('submit', (event) => {
  // Browsers keep that a script could not be loaded, until the page is loaded again.
  if (isUnloaded && navigator.onLine) return;
  event.preventDefault();
  writeAddress(false);
  const answered = answer();
  const turn = asked;
  // Not before: the answer replaces the rows, and the focus would be lost with the first of them.
  void answered.then(() => {
    if (turn === asked && document.activeElement === field) list.querySelector<HTMLElement>('a.name')?.focus();
  });
});
field.addEventListener('input', () => changed());
// Arrow keys change the choice one by one. All changes until the visitor turns elsewhere are one step.
let turnedTo: EventTarget | null = null;
facets.addEventListener('input', ({ target }) => {
  changed(target !== turnedTo);
  turnedTo = target;
});
const turnAway = () => {
  turnedTo = null;
};
facets.addEventListener('focusout', turnAway);
facets.addEventListener('pointerdown', turnAway);
// Results that the function sent are only counted when somebody turns to the filters.
const turnToFacets = () => {
  if (results === undefined && shown > 0) void answer();
  else countSoon(asked);
};
facets.addEventListener('toggle', () => countSoon(asked));
for (const event of ['click', 'focusin', 'pointerenter']) facets.addEventListener(event, turnToFacets, { once: true });
byId('clear').addEventListener('click', () => {
  for (const name of facetNames) select(name).value = '';
  changed(true);
  field.focus();
});
more.addEventListener('click', async () => {
  const known = new Set(list.querySelectorAll('a.name'));
  // If it were pressed again before the rows arrive, they would be added twice.
  more.disabled = true;
  try {
    await readMore();
  } catch {
    void answer({ shown: shown + step, sent, at: '', y: scrollY });
    return;
  } finally {
    more.disabled = false;
  }
  countSoon(asked);
  [...list.querySelectorAll<HTMLElement>('a.name')].find((name) => !known.has(name))?.focus();
});
list.addEventListener('click', ({ target }) => {
  const row = target instanceof Element && target.closest('a') ? target.closest<HTMLElement>('[data-package]') : null;
  if (row?.dataset.package === undefined) return;
  writeState({ shown, sent, at: row.dataset.package, y: scrollY });
});
addEventListener('popstate', ({ state }) => {
  turnAway();
  readAddress();
  void answer(state as Left | null);
});
// Safari keeps the page as it was left, but shows it from its top.
addEventListener('pageshow', ({ persisted }) => {
  const left = history.state as Left | null;
  if (persisted && left) comeBack(left);
});
document.addEventListener('device', () => void answer());
// It is loaded once, and again only after a failure. The field may already have the focus.
const loadSoon = () => void load().catch(() => {});
document.addEventListener('focusin', loadSoon);
if (document.activeElement === field) loadSoon();

// There is room for the filters beside the results.
if (matchMedia('(min-width: 64rem)').matches) facets.open = true;
const left = history.state as Left | null;
const isAsAsked = readAddress();
const isSent = status.dataset.answered !== undefined && isAsAsked && !/[?&]page=/.test(location.search);
// Who comes back to a row finds it where it was: among those that were sent, or that a search found.
if (!isSent || (left && (hasDevice() ? !left.sent : left.shown > list.childElementCount))) void answer(left);
else {
  adopt();
  if (hasDevice()) void adoptForDevice(left);
  else if (left) comeBack(left);
}
