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
      // Not by a request to submit it, which phones with a jailbreak mostly do not know.
      () => form.dispatchEvent(new Event('submit', { cancelable: true })),
      () => form.submit(),
    );
  };
};
