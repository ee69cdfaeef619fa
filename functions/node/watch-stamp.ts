import { statSync } from 'node:fs';

/** How often, in milliseconds, a change of what is published is looked for: builds wait for it, and to look takes microseconds. */
const stampInterval = 50;

// The state of the stamp as one text; one that is not there has a state too.
const readStamp = (file: string): string => {
  try {
    const { ino, mtimeNs, size } = statSync(file, { bigint: true });
    return `${ino}-${mtimeNs}-${size}`;
  } catch {
    return '';
  }
};

// With a stamp that never changes answers are kept for good, so without one they are kept for this many rounds.
const roundsWithoutStamp = 20;

/** Calls `onChange` whenever the stamp has changed; without one, every second. Returns what ends that. */
export const watchStamp = (file: string | undefined, onChange: () => void): (() => void) => {
  let seen = file === undefined ? '' : readStamp(file);
  let rounds = 0;
  const timer = setInterval(() => {
    const state = file === undefined ? '' : readStamp(file);
    rounds = state === '' ? rounds + 1 : 0;
    if (state === seen && rounds < roundsWithoutStamp) return;
    seen = state;
    rounds = 0;
    onChange();
  }, stampInterval);
  timer.unref();
  return () => clearInterval(timer);
};
