import { countedDays } from '../../src/contract/records.ts';
import type { CounterLimits } from './counting.ts';

/** The default limits of the counters. */
export const usualCounterLimits: CounterLimits = {
  days: countedDays,
  perNetwork: 2000,
  perSite: 8000,
  perDay: 1_000_000,
  counters: 4_000_000,
};
