import { firstBuild } from '../src/catalog/last-build.ts';
import { exitCodes } from './exit-codes.ts';
import { CommandFailure, UsageError } from './options.ts';

// Dates are written with years of four digits.
const lastSecond = Date.parse('9999-12-31T23:59:59Z') / 1000;

/**
 * The clock of a build. For reproducible builds the environment states the time as `epoch` (reproducible-builds.org,
 * SOURCE_DATE_EPOCH, in seconds).
 *
 * @throws UsageError if that is no time; CommandFailure if the clock of the machine is surely wrong, because what a build
 * notes, such as since when something is known, stays
 */
export const readClock = (epoch: string | undefined, ofMachine = (): Date => new Date()): (() => Date) => {
  if (epoch === undefined) {
    const now = ofMachine();
    if (now.toISOString() >= firstBuild) return ofMachine;
    throw new CommandFailure(
      `The clock of this machine says ${now.toISOString()}: set it, then build again. Nothing was changed.`,
      exitCodes.failed,
    );
  }
  const seconds = Number(epoch);
  if (!/^\d+$/.test(epoch) || seconds > lastSecond)
    throw new UsageError('SOURCE_DATE_EPOCH must be seconds since 1970 (not milliseconds), before the year 10000');
  return () => new Date(seconds * 1000);
};
