import { type RowCard, withinRow } from '../results/row.ts';
import { offeredBuilds, type PackageSummary } from './package-summary.ts';
import { troubleOf } from './repository.ts';

/** The row of a package in lists that the browser shows. */
export const composeCard = (summary: PackageSummary, hasDevices: boolean): RowCard => {
  const { architectures, runs } = offeredBuilds(summary);
  return withinRow({
    id: summary.id,
    name: summary.name,
    version: summary.version,
    summary: summary.summary,
    icon: summary.icon,
    paid: summary.paid,
    architectures,
    place: summary.repository.toldName,
    runs: hasDevices ? runs : undefined,
    trouble: troubleOf(summary.repository),
  });
};
