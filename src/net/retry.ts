/**
 * The pause before a retry (numbered from 1), in milliseconds. It doubles from `firstMs`, and is randomly shortened by
 * up to a half, so that many retries do not coincide.
 */
export const computePause = (firstMs: number, repetition: number, random = Math.random): number =>
  firstMs * 2 ** (repetition - 1) * (1 - random() / 2);

/**
 * The moment in a Retry-After field (RFC 9110, section 10.2.3: seconds or a date), or undefined if it is absent or
 * unreadable. Never before `now`, and never more than `maxMs` after it.
 */
export const parseRetryAfter = (field: string | null, now: Date, maxMs: number): Date | undefined => {
  if (field === null) return undefined;
  const text = field.trim();
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : undefined;
  // Date.parse accepts almost anything. A real date begins with the name of the day.
  // Without a zone, as asctime writes it, it is of GMT (RFC 9110, section 5.6.7), and not of where this machine is.
  const hasZone = /[A-Za-z]$|[+-]\d{4}$/.test(text);
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(hasZone ? text : `${text} GMT`) : Number.NaN;
  const at = seconds === undefined ? date : now.getTime() + seconds * 1000;
  if (Number.isNaN(at)) return undefined;
  return new Date(Math.min(Math.max(at, now.getTime()), now.getTime() + maxMs));
};
