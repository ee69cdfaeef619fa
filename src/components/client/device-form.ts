import type { Device } from '../../compatibility/judgement.ts';
import { knownDevice, readDevice, spell, takeDevice } from './visitor-device.ts';

// The form of the bar at the top, in which a visitor says which device it is. Loaded when the bar is opened.

/** Keeps a device in the browser, or none. */
const keep = (chosen: Device | undefined): void => {
  try {
    sessionStorage.removeItem('device');
    if (chosen === undefined) localStorage.removeItem('device');
    else localStorage.setItem('device', spell(chosen).join(' '));
  } catch {
    // Where storage is refused the choice holds for this page.
  }
};

/** Has the address of the page hold a device, or none; returns it. */
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

/** Makes the form work, once: what was typed into it before stays. */
export const watchForm = (bar: HTMLDetailsElement, form: HTMLFormElement): void => {
  const ios = form.elements.namedItem('ios') as HTMLInputElement;
  const build = form.elements.namedItem('build') as HTMLSelectElement;
  const [forget, share] = ['forget', 'share'].map((name) => form.elements.namedItem(name)) as [
    HTMLButtonElement,
    HTMLButtonElement,
  ];
  const sharing = form.querySelector<HTMLElement>('[data-sharing]');
  // Keypads of many languages have a comma where others have the point.
  const readTyped = () => readDevice(ios.value.replace(/^\s*ios\s*/i, '').replaceAll(',', '.'), build.value);
  const offer = () => {
    const [known, typed] = [knownDevice(), readTyped()];
    // The link is to what the page says, which another device in the form does not change yet.
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
  // In place of what waited for this.
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
  // Of any page, also one that was come to with a device that was chosen before; copied as all is that a button names.
  share.addEventListener('click', () => {
    share.dataset.copy = changeAddress(knownDevice());
  });
  // Not below the hands of somebody who was faster.
  if (ios.value === '' && !form.contains(document.activeElement)) fill();
  else offer();
};
