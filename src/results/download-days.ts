/** Downloads on each of the last days, for a chart: a count for each day, and the same in words. */
export interface DownloadDays {
  /** The oldest first; the last one is today. */
  readonly counts: readonly number[];
  readonly most: number;
  readonly text: string;
}

/** As many days as `last_30_days` of the download count covers. */
export const chartDays = 30;

const dayMs = 86_400_000;
const plural = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'download' : 'downloads'}`;
const formatDay = (at: number): string =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });

/**
 * The last 30 days of a daily series, which only contains days with downloads. `now` is the time of the answer, in
 * milliseconds: days are those of the server, whatever the reader's clock says. Invalid days and counts are ignored.
 * Undefined if there were no downloads on these days.
 */
export const computeDownloadDays = (daily: unknown, now: number): DownloadDays | undefined => {
  const today = Math.floor(now / dayMs);
  const counts = Array.from({ length: chartDays }, () => 0);
  if (!Array.isArray(daily) || !Number.isFinite(today)) return undefined;
  for (const one of daily as readonly unknown[]) {
    const { day, count } = (one ?? {}) as { readonly day?: unknown; readonly count?: unknown };
    const place = chartDays - 1 - today + Date.parse(`${day}T00:00:00Z`) / dayMs;
    if (Number.isSafeInteger(count) && Number(count) > 0 && place in counts) counts[place] = Number(count);
  }
  const most = Math.max(...counts);
  if (most === 0) return undefined;
  const sum = counts.reduce((all, count) => all + count, 0);
  const busiest = formatDay((today - chartDays + 1 + counts.indexOf(most)) * dayMs);
  return {
    counts,
    most,
    text: `${plural(sum)} in the last ${chartDays} days, most on ${busiest}: ${most.toLocaleString('en')}`,
  };
};

/** The outline of bars, three units wide and one apart, as the data of an SVG path with this height. */
export const barsOf = ({ counts, most }: Pick<DownloadDays, 'counts' | 'most'>, height: number): string =>
  counts
    .map((count, day) => {
      // A day without downloads leaves a mark, so that all thirty days are visible.
      const bar = count === 0 ? 0.5 : Math.max(2, (height * count) / most);
      return `M${day * 4} ${height}v-${bar.toFixed(1)}h3v${bar.toFixed(1)}z`;
    })
    .join('');
