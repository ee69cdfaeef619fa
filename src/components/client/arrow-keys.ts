// Arrow keys move from the field of the search page to its results, from one to the next, and back.

const field = document.querySelector<HTMLElement>('#search-form [name=q]');
const list = document.getElementById('results');

document.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  // Those of an input method choose among its words.
  if (event.isComposing) return;
  const names = [...(list?.querySelectorAll<HTMLElement>('a.name') ?? [])];
  const at = names.indexOf(document.activeElement as HTMLElement);
  if (at < 0 && document.activeElement !== field) return;
  const next = at + (event.key === 'ArrowDown' ? 1 : -1);
  if (next >= names.length || next < -1 || (at < 0 && event.key === 'ArrowUp')) return;
  event.preventDefault();
  (next < 0 ? field : names[next])?.focus();
});
