import { buildOf } from '../compatibility/builds.ts';
import { isFor, readStatements } from '../compatibility/judgement.ts';
import type { RowCard } from './row.ts';

/**
 * Whether a package is for an architecture. A package for all of them is, too; for an architecture of iOS devices only
 * if its repository serves that, as for verdicts and buttons.
 */
export const fitsArchitecture = (
  value: string,
  { architectures, runs }: Pick<RowCard, 'architectures' | 'runs'>,
): boolean => {
  if (architectures.includes(value)) return true;
  if (!architectures.some((one) => buildOf(one) === 'all')) return false;
  const build = buildOf(value);
  if (build === undefined || build === 'all' || runs === undefined) return true;
  return readStatements(runs).some((one) => one.build === 'all' && isFor(one, build));
};
