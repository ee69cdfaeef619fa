import { statSync } from 'node:fs';

/**
 * How often, in milliseconds, to check for a change of what is published. Builds wait for it, and a check takes
 * microseconds.
 */
const stampInterval = 50;

// The state of the stamp as a text. A missing stamp has a state, too.
const readStamp = (file: string): string => {
  try {
    const { ino, mtimeNs, size } = statSync(file, { bigint: true });
    return `${ino}-${mtimeNs}-${size}`;
  } catch {
    return '';
  }
};

// With a stamp, answers are kept until it changes; without one, for this many rounds.
const roundsWithoutStamp = 20;

/** Calls `onChange` whenever the stamp has changed; without one, every second. Returns a function that stops this. */
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
