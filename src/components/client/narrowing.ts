/** Calls with what a form asks for, now and whenever that changes; Enter asks for nothing more, since what fits is there. */
export const watchFilters = (form: HTMLFormElement | null, narrow: (wanted: FormData) => void): void => {
  if (form === null) return;
  form.addEventListener('input', () => narrow(new FormData(form)));
  form.addEventListener('submit', (event) => event.preventDefault());
  narrow(new FormData(form));
};

/** Says how many of all are shown, or what is to be said where none is. */
export const sayCount = (
  place: Element | null,
  { shown, all, one, many, none }: { shown: number; all: number; one: string; many: string; none: string },
): void => {
  if (place === null) return;
  const count = shown === all ? `${shown}` : `${shown} of ${all}`;
  place.textContent = shown === 0 ? none : `${count} ${all === 1 ? one : many}`;
};
