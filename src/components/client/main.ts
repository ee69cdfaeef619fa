import { watchBar } from './device-bar.ts';
import { answers } from './index-presence.ts';
import { tellDevice } from './visitor-device.ts';

const root = document.documentElement;

watchBar();
tellDevice();

const darkPreferred = matchMedia('(prefers-color-scheme: dark)');
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-theme-switch]')) {
  button.addEventListener('click', () => {
    const dark = (root.dataset.theme ?? (darkPreferred.matches ? 'dark' : 'light')) === 'dark';
    root.dataset.theme = dark ? 'light' : 'dark';
    // Phones draw their own bar above the page in the colour of its band.
    for (const [index, meta] of document.querySelectorAll<HTMLMetaElement>('[name=theme-color]').entries())
      meta.media = index === (dark ? 0 : 1) ? 'all' : 'not all';
    try {
      localStorage.setItem('theme', root.dataset.theme);
    } catch {
      // If storage is refused, the choice holds for this page.
    }
  });
}

const copied = async (button: HTMLButtonElement, text: string) => {
  const label = button.dataset.label ?? button.textContent ?? '';
  button.dataset.label = label;
  // Screen readers say what it is called, so meanwhile it is called what it shows.
  const name = button.getAttribute('aria-label');
  button.removeAttribute('aria-label');
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    const code = button.previousElementSibling;
    const isBeside = code?.localName === 'code';
    button.textContent = isBeside ? 'Press ⌘C' : 'Copy the address';
    if (isBeside) getSelection()?.selectAllChildren(code);
  }
  setTimeout(() => {
    button.textContent = label;
    if (name !== null) button.setAttribute('aria-label', name);
  }, 2000);
};

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>('[data-copy]') : null;
  if (button !== null) void copied(button, button.dataset.copy || (button.previousElementSibling?.textContent ?? ''));
});

const replaceImage = (image: HTMLImageElement) => {
  const fallback = image.dataset.fallback;
  if (fallback === undefined) return;
  delete image.dataset.fallback;
  // The letters of the package are below its icon.
  if (fallback === '') image.remove();
  else image.src = fallback;
};
addEventListener('error', (event) => event.target instanceof HTMLImageElement && replaceImage(event.target), true);
for (const image of document.querySelectorAll<HTMLImageElement>('img[data-fallback]')) {
  if (image.complete && image.naturalWidth === 0 && image.currentSrc !== '') replaceImage(image);
}

const spans = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;
for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-relative]')) {
  const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000;
  // By a clock that is behind, what has been is still to come; by one that is days behind nothing is told.
  if (seconds > 86_400) continue;
  const span = spans.find(([, length]) => -seconds >= length);
  time.title = time.textContent ?? '';
  const style = time.dataset.relative === 'short' ? 'short' : 'long';
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'always', style });
  time.textContent = span === undefined ? 'just now' : words.format(Math.round(seconds / span[1]), span[0]);
}

// When a visitor returns to a page, Safari empties a field without autocompletion, so its text is restored as it was
// left.
addEventListener('pagehide', () => {
  for (const field of document.querySelectorAll<HTMLInputElement>('[autocomplete=off]'))
    field.defaultValue = field.value;
});

// Open parts of the header close like menus: by a press outside, or Escape.
for (const menu of document.querySelectorAll<HTMLDetailsElement>('.top details')) {
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !menu.contains(target)) menu.open = false;
  });
  menu.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !menu.open) return;
    menu.open = false;
    menu.querySelector('summary')?.focus();
  });
}

// On a phone the field in the header is behind a button, which without scripts leads to the search page.
const header = document.querySelector<HTMLElement>('.top');
const opener = header?.querySelector<HTMLElement>('.to-search');
const hidden = header?.querySelector<HTMLFormElement>('.find');
const openField = (event: Event): void => {
  event.preventDefault();
  header?.toggleAttribute('data-finding', true);
  hidden?.querySelector('input')?.focus();
};
const closeField = (): void => void header?.toggleAttribute('data-finding', false);
opener?.addEventListener('click', openField);
hidden?.addEventListener('focusout', ({ relatedTarget }) => {
  if (!(relatedTarget instanceof Node && hidden.contains(relatedTarget))) closeField();
});
hidden?.addEventListener('keydown', ({ key, defaultPrevented }) => {
  if (key !== 'Escape' || defaultPrevented || !header?.hasAttribute('data-finding')) return;
  closeField();
  opener?.focus();
});

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest('input, textarea, select') !== null) return;
  const fields = [...document.querySelectorAll<HTMLInputElement>('input[type=search]')];
  const field = fields.find((one) => one.offsetParent !== null);
  if (field === undefined) {
    if (opener) openField(event);
    return;
  }
  event.preventDefault();
  field.focus();
});

// The code for suggestions is loaded when somebody is about to type. Meanwhile it is checked whether the index answers.
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-suggest]')) {
  let isBegun = false;
  const begin = () => {
    if (isBegun) return;
    isBegun = true;
    void answers();
    void import('./suggest.ts')
      .then(({ watchSearch }) => watchSearch(form))
      // Browsers keep that a script could not be loaded, until the page is loaded again.
      .catch(() => form.lastElementChild?.append('Press Enter to search.'));
  };
  // A finger touches the screen some time before the field has the focus.
  for (const event of ['pointerdown', 'focusin']) form.addEventListener(event, begin);
  if (form.contains(document.activeElement)) form.dispatchEvent(new Event('focusin'));
}

// Pictures from other hosts are loaded only when a visitor asks for them.
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-show-screenshots]')) {
  button.addEventListener('click', () => {
    void import('./screenshots.ts').then(({ showScreenshots }) => showScreenshots(button)).catch(() => {});
  });
}

// If there may be a function, it is asked for the downloads by day.
const counted = document.querySelector<HTMLElement>('body[data-index] [data-downloads-of]');
const countedId = counted?.dataset.downloadsOf;
if (counted && countedId)
  void import('./download-chart.ts')
    .then(({ watchDownloadChart }) => watchDownloadChart(counted, countedId))
    .catch(() => {});
