/**
 * Calls `narrow` with the values of a form, now and after every change. Enter has no further effect, because the
 * results are already shown.
 */
export const watchFilters = (form: HTMLFormElement | null, narrow: (wanted: FormData) => void): void => {
  if (form === null) return;
  form.addEventListener('input', () => narrow(new FormData(form)));
  form.addEventListener('submit', (event) => event.preventDefault());
  narrow(new FormData(form));
  // When a visitor returns, browsers fill a form as it was left, without an event, and some only after this script.
  addEventListener('pageshow', () => narrow(new FormData(form)));
};

/** Says how many of all are shown, or that none is. */
export const sayCount = (
  place: Element | null,
  { shown, all, one, many, none }: { shown: number; all: number; one: string; many: string; none: string },
): void => {
  if (place === null) return;
  const count = shown === all ? `${shown}` : `${shown} of ${all}`;
  place.textContent = shown === 0 ? none : `${count} ${all === 1 ? one : many}`;
};
