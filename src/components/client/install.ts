import { parseVersion } from '../../compatibility/ios-versions.ts';
import { isRefusal } from '../../compatibility/judgement.ts';
import { afterDevice, deviceBuild, judgeText, knownDevice } from './visitor-device.ts';

// Which manager opens a package is the visitor's habit, and which of its builds fits depends on their device. Pages of
// packages and repositories load this before what all pages load.

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
const head = document.querySelector<HTMLElement>('.for-device[data-runs]');
const older = document.querySelector<HTMLDetailsElement>('details#older');

const refuses = (runs: string | undefined): boolean => {
  const judgement = runs === undefined ? undefined : judgeText(runs);
  return judgement !== undefined && isRefusal(judgement);
};

/**
 * Of the lines about builds in other repositories, shows the one whose build the verdict at the top of the page is
 * about.
 */
const tellWhere = (): void => {
  const { own, runs } = head?.dataset ?? {};
  const words = judgeText(runs)?.words;
  const isOwn = own !== undefined && judgeText(own)?.words === words;
  const fitting = places.filter(({ dataset }) => dataset.build === deviceBuild());
  const line = isOwn ? undefined : fitting.find(({ dataset }) => judgeText(dataset.states)?.words === words);
  for (const one of places) one.hidden = one !== line;
};

/**
 * If no latest version runs on the device, by what they state, leads from the verdict to the newest that does, whose row
 * is the first.
 */
const tellOlder = (): void => {
  document.querySelector('#allows')?.removeAttribute('id');
  if (!refuses(head?.dataset.runs)) return;
  const rows = [...(older?.querySelectorAll<HTMLElement>('[data-states]') ?? [])];
  const row = rows.find(({ dataset }) => judgeText(dataset.states)?.verdict === 'runs');
  const version = row?.querySelector('.version')?.firstChild?.textContent?.trim();
  const verdict = head?.firstElementChild;
  if (!older || !row || !verdict || version === undefined) return;
  older.open = true;
  row.id = 'allows';
  const link = document.createElement('a');
  link.href = '#allows';
  const place = document.createElement('bdi');
  place.textContent = row.querySelector('.place > a')?.textContent?.trim() ?? '';
  link.append(`Version ${version} `, ...(place.textContent === '' ? [] : ['in ', place, ' ']), 'allows it');
  // Beside the sign of the verdict, as one text.
  const text = document.createElement('span');
  text.append(`${verdict.textContent}. `, link);
  verdict.replaceChildren(text);
};

/**
 * Puts the last used manager first, and the others beside it. If the visitor's device is known, only managers stay that
 * run on it and can install something there. If none can, all stay and none is emphasised, and likewise if the package
 * says that it does not run on the device, or its origin fails. The download for the device comes first. If another
 * repository has the build of the verdict, it is named.
 */
const placeInstall = (): void => {
  const build = deviceBuild();
  const ios = knownDevice()?.ios ?? 0;
  const last = readLast();
  // By its best repository, to which the buttons lead.
  const isRefused = refuses(head?.dataset.own ?? head?.dataset.runs);
  tellWhere();
  tellOlder();
  for (const { group, buttons } of groups) {
    const fitting = buttons.filter(
      ({ dataset: { builds, from = '' } }) =>
        build === undefined || (builds?.split(' ').includes(build) && (parseVersion(from) ?? 0) <= ios),
    );
    const shown = fitting.length > 0 ? fitting : buttons;
    const first = shown.find(({ dataset }) => dataset.manager === last) ?? shown[0];
    for (const button of buttons) {
      button.hidden = !shown.includes(button);
      const isCalledFor = fitting.length > 0 && !isRefused && group.dataset.doubted === undefined;
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

afterDevice(placeInstall);

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
