// The bar at the top, closed: the script of its form is loaded when somebody opens it.

/** Lets the bar's form work, where the page has one. */
export const watchBar = (): void => {
  const bar = document.querySelector<HTMLDetailsElement>('#device-bar');
  const form = bar?.querySelector('form');
  if (!bar || !form) return;
  let loading: Promise<void> | undefined;
  const load = () => {
    loading ??= import('./device-form.ts').then(({ watchForm }) => watchForm(bar, form));
    return loading;
  };
  bar.ontoggle = () => void load().catch(() => {});
  // Sent before that, it waits; where the script cannot be loaded, it asks for the page with the device in its address,
  // which does as much.
  form.onsubmit = (event) => {
    event.preventDefault();
    load().then(
      () => form.requestSubmit(),
      () => form.submit(),
    );
  };
};
