import { rowMarkup } from '../results/row.ts';
import { site } from './context.ts';
import type { PackageCard } from './package-card.ts';
import { rememberRecent } from './page-keys.ts';

const withRuns = (card: PackageCard) => ({ ...card, runs: site().catalog.hasDevices ? card.runs : undefined });
const plainRow = rememberRecent((card: PackageCard) => rowMarkup(withRuns(card)));

/** The row of a package in a list, as markup. See `rowMarkup`. */
export const packageRow = (card: PackageCard, place: boolean, note: string | undefined): string =>
  place && note === undefined ? plainRow(card) : rowMarkup(withRuns(card), { place, note });
