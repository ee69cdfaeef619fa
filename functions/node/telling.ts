import type { Log } from '../../src/log/log.ts';
import type { LogLevel } from '../../src/log/log-line.ts';
import type { RequestNote } from '../environment.ts';
import type { ToldEvent } from '../gateway/on-node.ts';
import type { Meter } from './meter.ts';
import type { ServerEvent } from './server-event.ts';

/** How a server reports to its operator. */
export interface Telling {
  /** Reports a failure with its causes, and the request that met it. */
  readonly report: (error: unknown, note?: RequestNote) => void;
  readonly tell: (event: ServerEvent) => void;
}

const words: Readonly<Record<Exclude<ServerEvent, ToldEvent>['event'], readonly [LogLevel, string]>> = {
  'limit-met': ['warn', 'A limit of the server was met'],
  unhealthy: ['warn', 'A leaf of the health record turned false'],
  'generation-taken': ['info', 'Another generation of the publication is in force'],
  'replica-trouble': ['warn', 'The publication cannot be followed; the reason says what is answered'],
  'safety-list': ['warn', 'The safety list cannot be used; the one before stays in force'],
  'downloads-away': ['warn', 'The database of the download counters is away; counts are kept here and sent later'],
  'downloads-back': ['info', 'The database of the download counters is back'],
  'replica-well': ['info', 'The publication is followed again'],
};

const gatewayLevels: Readonly<Record<string, LogLevel>> = {
  'store-unavailable': 'error',
  failure: 'error',
  'reuse-detected': 'warn',
};

const wordsOf = (told: ServerEvent): readonly [LogLevel, string] =>
  'channel' in told ? [gatewayLevels[told.event] ?? 'info', `Payment gateway: ${told.event}`] : words[told.event];

/** Logs everything, and counts it in a meter. A line has the time at which it is written. */
export const createTelling = (log: Log, meter: Meter): Telling => ({
  report: (error, note) => {
    meter.faults++;
    log.fault(error, note === undefined ? {} : { request: note.id, operation: note.operation ?? 'none' });
  },
  tell: (told) => {
    meter.countEvent(told);
    const { time, event, ...fields } = told;
    const [level, message] = wordsOf(told);
    log[level](event, message, fields);
  },
});
