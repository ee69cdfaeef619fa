// The closed bar at the top. The script of its form is loaded when somebody opens it.

/** Makes the bar's form work, if the page has one. */
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
  // A form that is sent before the script is loaded waits. If the script cannot be loaded, the form requests the page
  // with the device in its address, which has the same effect.
  form.onsubmit = (event) => {
    event.preventDefault();
    load().then(
      // Not with requestSubmit, which most jailbroken phones do not support.
      () => form.dispatchEvent(new Event('submit', { cancelable: true })),
      () => form.submit(),
    );
  };
};
