import type { Device } from '../../compatibility/judgement.ts';
import { knownDevice, readDevice, spell, takeDevice } from './visitor-device.ts';

// The form in the bar at the top, in which visitors enter their device. It is loaded when the bar is opened.

/** Stores a device in the browser, or removes it. */
const keep = (chosen: Device | undefined): void => {
  try {
    sessionStorage.removeItem('device');
    if (chosen === undefined) localStorage.removeItem('device');
    else localStorage.setItem('device', spell(chosen).join(' '));
  } catch {
    // If storage is refused, the choice holds for this page.
  }
};

/** Puts a device into the address of the page, or removes it. Returns the address. */
const changeAddress = (chosen: Device | undefined): string => {
  const address = new URL(location.href);
  for (const name of ['ios', 'build']) address.searchParams.delete(name);
  if (chosen !== undefined) {
    const [ios, build] = spell(chosen);
    address.searchParams.set('ios', ios);
    address.searchParams.set('build', build);
  }
  history.replaceState(history.state, '', address);
  return address.href;
};

/** Makes the form work, once. Text that was typed into it before stays. */
export const watchForm = (bar: HTMLDetailsElement, form: HTMLFormElement): void => {
  const ios = form.elements.namedItem('ios') as HTMLInputElement;
  const build = form.elements.namedItem('build') as HTMLSelectElement;
  const [forget, share] = ['forget', 'share'].map((name) => form.elements.namedItem(name)) as [
    HTMLButtonElement,
    HTMLButtonElement,
  ];
  const sharing = form.querySelector<HTMLElement>('[data-sharing]');
  // The keypads of many languages have a comma instead of a point.
  const readTyped = () => readDevice(ios.value.replace(/^\s*ios\s*/i, '').replaceAll(',', '.'), build.value);
  const offer = () => {
    const [known, typed] = [knownDevice(), readTyped()];
    // The link is for the device of the page. Another device in the form does not change it yet.
    const isAnother = known && typed && String(spell(typed)) !== String(spell(known));
    forget.hidden = known === undefined;
    for (const part of [share, sharing]) part?.toggleAttribute('hidden', known === undefined || isAnother === true);
  };
  const fill = () => {
    const known = knownDevice();
    if (known !== undefined) [ios.value, build.value] = spell(known);
    offer();
  };
  const change = (chosen: Device | undefined) => {
    keep(chosen);
    changeAddress(chosen);
    takeDevice(chosen);
    fill();
    bar.open = false;
    bar.querySelector('summary')?.focus();
  };
  // Replaces the handler that waited for this script.
  form.onsubmit = (event) => {
    event.preventDefault();
    const chosen = readTyped();
    ios.setCustomValidity(chosen === undefined ? 'A version of iOS, such as 16.7' : '');
    if (chosen === undefined) ios.reportValidity();
    else change(chosen);
  };
  ios.addEventListener('input', () => ios.setCustomValidity(''));
  form.addEventListener('input', offer);
  forget.addEventListener('click', () => {
    ios.value = '';
    change(undefined);
  });
  // Works on any page, even if the device was chosen earlier; copied like all text that a button names.
  share.addEventListener('click', () => {
    share.dataset.copy = changeAddress(knownDevice());
  });
  // Does not overwrite what a quick visitor has typed.
  if (ios.value === '' && !form.contains(document.activeElement)) fill();
  else offer();
};
