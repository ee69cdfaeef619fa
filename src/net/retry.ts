/**
 * The pause before a repetition (numbered from 1), in milliseconds: it doubles from `firstMs`, and is shortened by up
 * to a half at random, so that many repetitions do not fall together.
 */
export const computePause = (firstMs: number, repetition: number, random = Math.random): number =>
  firstMs * 2 ** (repetition - 1) * (1 - random() / 2);

/**
 * The moment that a Retry-After field names (RFC 9110, section 10.2.3: seconds or a date), or undefined where it is
 * absent or unreadable. Never before `now`, never later than `maxMs` after it.
 */
export const parseRetryAfter = (field: string | null, now: Date, maxMs: number): Date | undefined => {
  if (field === null) return undefined;
  const text = field.trim();
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : undefined;
  // Date.parse makes a date of almost anything; a true one begins with the name of its day.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  const at = seconds === undefined ? date : now.getTime() + seconds * 1000;
  if (Number.isNaN(at)) return undefined;
  return new Date(Math.min(Math.max(at, now.getTime()), now.getTime() + maxMs));
};
