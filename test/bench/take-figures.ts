import { composeFigures, type Figure } from './report.ts';
import { Missing } from './workshop.ts';

/** Takes figures one after another. For those that this machine cannot take, it reports what is missing. */
export const takeFigures = async (works: readonly (() => Promise<readonly Figure[]>)[]): Promise<string> => {
  const figures: Figure[] = [];
  let missing = '';
  for (const work of works) {
    try {
      figures.push(...(await work()));
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      missing += `Skipped: ${error.message}.\n`;
    }
  }
  return composeFigures(figures) + missing;
};
