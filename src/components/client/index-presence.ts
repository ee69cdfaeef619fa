import { addressOf } from './address.ts';

// Whether there is an index to ask. Every page has this script, so that it is known as early as it may be needed.

/** For how many seconds the index is not asked again, by reason. */
export const rests = { slow: 10, failed: 30, absent: 600, busy: 5 } as const;

let awayUntil = 0;
try {
  awayUntil = Number(sessionStorage.getItem('index-away')) || 0;
} catch {
  // If storage is refused, each page finds out by itself.
}

/** Leaves the index alone for so many seconds, on all pages of this tab. */
export const rest = (seconds: number): void => {
  awayUntil = Date.now() + 1000 * seconds;
  try {
    sessionStorage.setItem('index-away', String(awayUntil));
  } catch {
    // The same.
  }
};

/**
 * Whether the index may be asked: the site says that there may be a function, and it has not recently failed to answer.
 * No rest is longer than that of an absent one, unless the device's clock was set back.
 */
export const mayAsk = (): boolean => {
  const left = awayUntil - Date.now();
  return document.body.dataset.index !== undefined && (left <= 0 || left > 1000 * rests.absent);
};

let known: Promise<boolean> | undefined;

/** Whether the index answers. If that is unknown, a short query finds out, before somebody waits for it. */
export const answers = async (): Promise<boolean> => {
  if (!mayAsk()) return false;
  known ??= fetch(addressOf('v2/livez')).then(
    ({ status }) => {
      if (status === 404 || status === 501) rest(rests.absent);
      return mayAsk();
    },
    () => mayAsk(),
  );
  return known;
};
