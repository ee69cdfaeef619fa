import { barsOf, chartDays, computeDownloadDays } from '../../results/download-days.ts';
import { addressOf } from './address.ts';

const height = 32;
const svg = 'http://www.w3.org/2000/svg';

const draw = async (place: HTMLElement, id: string): Promise<void> => {
  const response = await fetch(addressOf(`v2/jailbreak/download/${encodeURIComponent(id)}`));
  if (!response.ok) return;
  const { date, data } = (await response.json()) as { date?: string; data?: { daily?: unknown } };
  const days = computeDownloadDays(data?.daily, Date.parse(date ?? ''));
  if (days === undefined) return;
  const chart = document.createElementNS(svg, 'svg');
  chart.setAttribute('viewBox', `0 0 ${chartDays * 4 - 1} ${height}`);
  chart.setAttribute('preserveAspectRatio', 'none');
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-label', days.text);
  const bars = document.createElementNS(svg, 'path');
  bars.setAttribute('d', barsOf(days, height));
  chart.append(bars);
  const words = document.createElement('small');
  words.className = 'muted';
  words.textContent = `by day; most: ${days.most.toLocaleString('en')}`;
  // The description of the chart already says this.
  words.setAttribute('aria-hidden', 'true');
  place.append(chart, words);
};

/**
 * Draws the downloads of a package on the last days when its place becomes visible, from the function's answer. Shows
 * nothing if there is no answer, or there were no downloads.
 */
export const watchDownloadChart = (place: HTMLElement, id: string): void => {
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    seen.disconnect();
    void draw(place, id).catch(() => {});
  });
  seen.observe(place);
};
