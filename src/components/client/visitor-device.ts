import { type Build, builds, wordOf } from '../../compatibility/builds.ts';
import { parseVersion, writeVersion } from '../../compatibility/ios-versions.ts';
import { type Device, isRefusal, type Judgement, judge, readStatements } from '../../compatibility/judgement.ts';
import { iosVersionPattern } from '../../contract/ios-version.ts';

// The device of the visitor. It stays in the browser, and in an address if the visitor put it there to share it. Rows
// and pages contain what packages state, so no server has to be asked.

/** The device in an address or a form; undefined if there is none. */
export const readDevice = (ios: string | null, build: string | null): Device | undefined => {
  const text = (ios ?? '').trim();
  // Statements of packages have versions that no device has.
  const version = iosVersionPattern.test(text) ? parseVersion(text) : undefined;
  const known = builds.find((one) => one === build);
  return version !== undefined && known !== undefined ? { ios: version, build: known } : undefined;
};

/** The form of a device in addresses and in the browser. */
export const spell = (known: Device): readonly [ios: string, build: Build] => [writeVersion(known.ios), known.build];

const readKept = (text: string | null): Device | undefined => {
  const [ios = null, build = null] = text?.split(' ') ?? [];
  return readDevice(ios, build);
};

/**
 * The device in the address, or else the stored one. A shared address does not change what is stored; if nothing is
 * stored, it holds for the tab, in which its links are followed.
 */
const findDevice = (): Device | undefined => {
  const asked = new URLSearchParams(location.search);
  const shared = readDevice(asked.get('ios'), asked.get('build'));
  try {
    const kept = readKept(localStorage.getItem('device'));
    if (kept !== undefined) return shared ?? kept;
    if (shared !== undefined) sessionStorage.setItem('device', spell(shared).join(' '));
    return readKept(sessionStorage.getItem('device'));
  } catch {
    return shared;
  }
};

let device = findDevice();

/** Adds the device to the parameters of an address, so that the page can be shared as it is seen. */
export const keepDevice = (parameters: URLSearchParams): void => {
  if (!new URLSearchParams(location.search).has('ios') || device === undefined) return;
  const [ios, build] = spell(device);
  parameters.set('ios', ios);
  parameters.set('build', build);
};

const rowOf = (element: Element): HTMLElement | null =>
  element.matches('[data-runs]') ? (element as HTMLElement) : element.querySelector<HTMLElement>('[data-runs]');

/** The verdict on these statements for the visitor's device, if one is known. */
export const judgeText = (runs = ''): Judgement | undefined => device && judge(readStatements(runs), device);

const judgeRow = ({ dataset }: HTMLElement): Judgement | undefined => judgeText(dataset.runs);

/** Whether a device is known, which rows then take into account. */
export const hasDevice = (): boolean => device !== undefined;

/** Shows the verdict for the visitor's device on a row, or at the top of a page. */
export const tellOf = (element: Element): void => {
  const row = rowOf(element);
  if (row === null) return;
  const judgement = judgeRow(row);
  let line = row.querySelector<HTMLElement>('.verdict');
  if (judgement === undefined) {
    line?.remove();
    row.classList.remove('judged');
    return;
  }
  if (line === null) {
    line = document.createElement('p');
    row.append(line);
    row.classList.add('judged');
  }
  line.className = `verdict ${judgement.verdict}`;
  // There is room for a sentence at the top of a page.
  line.textContent = (judgement.verdict === 'no-build' && row.dataset.lacking) || judgement.words;
};

/**
 * Whether a package may run on the visitor's device, if one is known, by what it states (in the form that rows
 * contain).
 */
export const mayRun = (runs: string): boolean =>
  device === undefined || !isRefusal(judge(readStatements(runs), device));

/**
 * Adds items to a list of packages, each with its verdict for the visitor's device. Packages that by their own
 * statement do not run there come after all others, below a line that says so. Within both groups the order stays.
 */
export const placeRows = (list: HTMLElement, items: readonly HTMLElement[]): void => {
  for (const item of items) {
    tellOf(item);
    const row = rowOf(item);
    const judgement = row === null ? undefined : judgeRow(row);
    const line = list.querySelector(':scope > .misfits');
    if (judgement === undefined || !isRefusal(judgement)) {
      list.insertBefore(item, line);
      continue;
    }
    if (line === null) {
      const heading = document.createElement('li');
      heading.className = 'misfits';
      heading.textContent = 'Not for your iPhone, by what they state';
      list.append(heading);
    }
    list.append(item);
  }
};

/** Groups the items of a list again. */
export const regroup = (list: HTMLElement): void => {
  const items = [...list.children].filter((item): item is HTMLElement => !item.classList.contains('misfits'));
  const focused = document.activeElement;
  list.replaceChildren();
  placeRows(list, items);
  // What is taken out loses it.
  if (focused instanceof HTMLElement && list.contains(focused)) focused.focus({ preventScroll: true });
};

/** The kind of build for the visitor's device; undefined if it is not known. */
export const deviceBuild = (): Build | undefined => device?.build;

/** Updates everything else on the page that depends on the device. */
let tellOthers = (): void => {};

const tellAll = (): void => {
  const { dataset } = document.documentElement;
  if (device === undefined) delete dataset.device;
  else dataset.device = device.build;
  for (const element of document.querySelectorAll('[data-runs]')) tellOf(element);
  for (const list of document.querySelectorAll<HTMLElement>('.list[data-grouped]')) regroup(list);
  for (const name of document.querySelectorAll<HTMLElement>('[data-device-name]')) {
    name.textContent =
      device === undefined
        ? (name.dataset.deviceName ?? '')
        : // A line never begins with the dot.
          `iOS ${writeVersion(device.ios)}\u00a0· ${wordOf(device.build)}`;
  }
  tellOthers();
};

/** The device of the visitor; undefined if it is not known. */
export const knownDevice = (): Device | undefined => device;

/** Sets another device, or none. Rows and pages change at once. */
export const takeDevice = (chosen: Device | undefined): void => {
  device = chosen;
  tellAll();
  document.dispatchEvent(new Event('device'));
};

/** Has this called once the verdicts on the page are shown, and whenever the device changes. */
export const afterDevice = (tell: () => void): void => {
  tellOthers = tell;
};

/** Shows the verdicts on the page. */
export const tellDevice = (): void => {
  // An index without packages for such devices has no bar, and no verdicts.
  if (document.querySelector('#device-bar')) tellAll();
  else tellOthers();
};
