import { rememberRecent } from './page-keys.ts';

const number = new Intl.NumberFormat('en-US');

/** A count with separators of thousands. */
// Most are small, and asking for the format of one takes as long as a row of a list.
export const formatCount = (count: number): string => (count >= 0 && count < 1000 ? `${count}` : number.format(count));

/** The word for so many of a thing: "package" of 1, "packages" of any other count. */
export const pluralOf = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/** "1 package", "2 packages". */
export const formatPlural = (count: number, one: string, many?: string): string =>
  `${formatCount(count)} ${pluralOf(count, one, many)}`;

/** A text of a stranger as a sentence that another can follow: with a full stop, where it ends without a sign of its own. */
export const asSentence = (text: string): string =>
  /[\p{Terminal_Punctuation}…][\p{Pe}\p{Pf}"']*$/u.test(text) ? text : `${text}.`;

const units = ['kB', 'MB', 'GB'] as const;

/** A size in bytes as people read it, in powers of 1,000; a dash where it is not known. */
export const formatSize = (bytes: number | null): string => {
  if (bytes === null || bytes === 0) return '–';
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes;
  let unit = -1;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
};

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const minute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A day, such as "5 Mar 2026", of an ISO 8601 time. */
export const formatDay = rememberRecent((iso: string) => day.format(new Date(iso)));

/** A moment, such as "5 Mar 2026, 14:07 UTC". */
export const formatMoment = (iso: string): string => `${minute.format(new Date(iso))} UTC`;

/** The day when something was first seen: "before" it, where it was there when its repository was first read. */
export const formatFirstSeen = (iso: string, isNews: boolean): string =>
  isNews ? formatDay(iso) : `before ${formatDay(iso)}`;

const settledMs = 86_400_000;

/**
 * The day of the last change of a repository: "before" it, where all that is known is what was there when it was first
 * read, and its origin names no earlier day.
 */
export const formatChange = ({
  changedAt,
  addedAt,
}: {
  readonly changedAt: string;
  readonly addedAt: string;
}): string => {
  const isSeen = changedAt > addedAt || Date.parse(addedAt) - Date.parse(changedAt) > settledMs;
  return formatFirstSeen(changedAt, isSeen);
};
