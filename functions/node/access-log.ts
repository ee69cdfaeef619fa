import { gatewayWords } from '../../src/contract/gateway-schemas.ts';
import type { Log } from '../../src/log/log.ts';
import type { AnsweredRequest } from './answered-request.ts';

/** What of requests is written down: `plain` neither who asked nor what stood behind the "?". */
export const accessLogs = ['off', 'plain', 'full'] as const;
export type AccessLog = (typeof accessLogs)[number];

// A word of the gateway's addresses, wherever it stands in a path and however it is written.
const gatewayWord = new RegExp(`/(?:${gatewayWords.join('|')})(?![a-z])`, 'i');
const decodeAscii = (path: string): string =>
  path.replaceAll(/%([2-7][\da-f])/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

// Handles of sign-ins and codes of providers stand in queries of the gateway; no log has them. What was refused before
// the gateway was asked, or missed its address by a letter, may still be good there.
const isSecret = (operation: string | undefined, path: string): boolean =>
  operation === undefined || operation === 'page'
    ? gatewayWord.test(decodeAscii(path))
    : operation.startsWith('gateway.');

/** The fields of a line about a request; those of `full` are there only where they were asked for. */
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

/** Writes each request into the log. */
export const createAccessLog =
  (log: Log, kind: Exclude<AccessLog, 'off'>) =>
  (answered: AnsweredRequest): void => {
    const { method, path, status, ms, ...more } = describeRequest(answered, kind);
    log.info('request', `${method} ${path} ${status}`, { method, path, status, ms, ...more });
  };
