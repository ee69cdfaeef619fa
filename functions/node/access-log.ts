import { gatewayWords } from '../../src/contract/gateway-schemas.ts';
import type { Log } from '../../src/log/log.ts';
import type { AnsweredRequest } from './answered-request.ts';

/** How much is logged of a request. `plain` leaves out who asked, and the query. */
export const accessLogs = ['off', 'plain', 'full'] as const;
export type AccessLog = (typeof accessLogs)[number];

// A word of the gateway's addresses, anywhere in a path and in any spelling.
const gatewayWord = new RegExp(`/(?:${gatewayWords.join('|')})(?![a-z])`, 'i');
const decodeAscii = (path: string): string =>
  path.replaceAll(/%([2-7][\da-f])/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

// Whether the query must not be logged: queries of the gateway contain handles of sign-ins and codes of providers. If a
// request was refused before it reached the gateway, or its address was mistyped, they may still be valid.
const isSecret = (operation: string | undefined, path: string): boolean =>
  operation === undefined || operation === 'page'
    ? gatewayWord.test(decodeAscii(path))
    : operation.startsWith('gateway.');

/** The fields of a log line about a request. Those of `full` are present only if that was chosen. */
const describeRequest = (
  { note, method, target, userAgent, status, isWhole, milliseconds, bytes, client }: AnsweredRequest,
  kind: Exclude<AccessLog, 'off'>,
) => {
  const question = target.indexOf('?');
  const path = question < 0 ? target : target.slice(0, question);
  const fields = {
    request: note.id,
    method,
    path,
    operation: note.operation ?? 'none',
    status,
    whole: isWhole,
    bytes,
    ms: Math.round(milliseconds * 1000) / 1000,
  };
  if (kind === 'plain') return fields;
  const query = question < 0 || isSecret(note.operation, path) ? undefined : target.slice(question + 1);
  return { ...fields, query, address: client(), agent: userAgent };
};

/** Logs each request. */
export const createAccessLog =
  (log: Log, kind: Exclude<AccessLog, 'off'>) =>
  (answered: AnsweredRequest): void => {
    const { method, path, status, ms, ...more } = describeRequest(answered, kind);
    log.info('request', `${method} ${path} ${status}`, { method, path, status, ms, ...more });
  };
