import { rememberRecent } from './page-keys.ts';

const number = new Intl.NumberFormat('en-US');

/**
 * A count with separators of thousands. Most counts are below a thousand and need none, and formatting one takes as long
 * as a whole row of a list.
 */
export const formatCount = (count: number): string => (count >= 0 && count < 1000 ? `${count}` : number.format(count));

/** The word for that many things: "package" for 1, "packages" for any other number. */
export const pluralOf = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/** "1 package", "2 packages". */
export const formatPlural = (count: number, one: string, many?: string): string =>
  `${formatCount(count)} ${pluralOf(count, one, many)}`;

/** A stranger's text as a sentence: with a full stop, unless it already ends with a punctuation mark. */
export const asSentence = (text: string): string =>
  /[\p{Terminal_Punctuation}…][\p{Pe}\p{Pf}"']*$/u.test(text) ? text : `${text}.`;

const units = ['kB', 'MB', 'GB'] as const;

/** A size in bytes for people, in powers of 1,000; a dash if it is not known. */
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

/** The day when something was first seen, with "before" if it was already there when its repository was first read. */
export const formatFirstSeen = (iso: string, isNews: boolean): string =>
  isNews ? formatDay(iso) : `before ${formatDay(iso)}`;

const settledMs = 86_400_000;

/**
 * The day of the last change of a repository, with "before" if only its content at the first reading is known, and its
 * origin names no earlier day.
 */
export const formatChange = ({ changedAt, addedAt }: Readonly<Record<'changedAt' | 'addedAt', string>>): string => {
  const isSeen = changedAt > addedAt || Date.parse(addedAt) - Date.parse(changedAt) > settledMs;
  return formatFirstSeen(changedAt, isSeen);
};
