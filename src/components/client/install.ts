import { parseVersion } from '../../compatibility/ios-versions.ts';
import { deviceBuild, knownDevice, refusesDevice, tellWhere } from './visitor-device.ts';

// Which manager opens a package is the visitor's habit, and which of its builds fits depends on their device.

const readLast = (): string | null => {
  try {
    return localStorage.getItem('manager');
  } catch {
    return null;
  }
};

// As in the page, whatever was moved before.
const groups = [...document.querySelectorAll<HTMLElement>('[data-managers]')].map((group) => ({
  group,
  buttons: [...group.querySelectorAll<HTMLElement>('[data-manager]')],
}));
const downloads = [...document.querySelectorAll<HTMLElement>('.downloads')].map((list) => ({
  list,
  items: [...list.querySelectorAll<HTMLElement>(':scope > li')],
}));
const places = [...document.querySelectorAll<HTMLElement>('.of-build[data-states]')];

/**
 * Puts the last used manager first, and the others beside it. If the visitor's device is known, only managers stay that
 * run on it and can install something there. If none can, all stay and none is emphasised, and likewise if the package
 * says that it does not run on the device, or its origin fails. The download for the device comes first. If another
 * repository has the build of the verdict, it is named.
 */
export const placeInstall = (): void => {
  const build = deviceBuild();
  const ios = knownDevice()?.ios ?? 0;
  const last = readLast();
  const refuses = refusesDevice();
  tellWhere(places);
  for (const { group, buttons } of groups) {
    const fitting = buttons.filter(
      ({ dataset: { builds, from = '' } }) =>
        build === undefined || (builds?.split(' ').includes(build) && (parseVersion(from) ?? 0) <= ios),
    );
    const shown = fitting.length > 0 ? fitting : buttons;
    const first = shown.find(({ dataset }) => dataset.manager === last) ?? shown[0];
    for (const button of buttons) {
      button.hidden = !shown.includes(button);
      const isCalledFor = fitting.length > 0 && !refuses && group.dataset.doubted === undefined;
      button.classList.toggle('primary', button === first && isCalledFor);
      if (button !== first) group.append(button);
    }
  }
  for (const { list, items } of downloads) {
    const fits = ({ dataset }: HTMLElement) => dataset.build === build || dataset.build === 'all';
    if (build === undefined) list.append(...items);
    else list.append(...items.filter(fits), ...items.filter((item) => !fits(item)));
  }
};

/** Remembers which manager is used. */
export const watchInstall = (): void => {
  for (const { group } of groups) {
    group.addEventListener('click', ({ target }) => {
      const used = target instanceof Element ? target.closest<HTMLElement>('[data-manager]') : null;
      try {
        if (used?.dataset.manager !== undefined) localStorage.setItem('manager', used.dataset.manager);
      } catch {
        // If storage is refused, the order stays as it is.
      }
    });
  }
};
