/** Downloads on each of the last days, as a chart has them: each of its days has a count, and what it says in words. */
export interface DownloadDays {
  /** Oldest first, the last one is today. */
  readonly counts: readonly number[];
  readonly most: number;
  readonly text: string;
}

/** As many as `last_30_days` of the download count sums. */
export const chartDays = 30;

const dayMs = 86_400_000;
const plural = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'download' : 'downloads'}`;
const formatDay = (at: number): string =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });

/**
 * The last 30 days of a daily series, which names only days on which something was counted. `now` is the moment of the
 * answer, in milliseconds: the days are those of the server, whatever the clock of the reader says. What is no day or
 * count of a series is passed over. Undefined where nothing was counted on these days.
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

/** The outline of bars of three units with one between them, as the data of an SVG path of this height. */
export const barsOf = ({ counts, most }: Pick<DownloadDays, 'counts' | 'most'>, height: number): string =>
  counts
    .map((count, day) => {
      // A day without downloads leaves a mark, so that thirty days are seen.
      const bar = count === 0 ? 0.5 : Math.max(2, (height * count) / most);
      return `M${day * 4} ${height}v-${bar.toFixed(1)}h3v${bar.toFixed(1)}z`;
    })
    .join('');
