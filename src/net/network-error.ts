import { errors } from 'undici';
import type { networkTexts } from '../contract/finding-texts/network-findings.ts';
import { withoutControls } from '../contract/findings.ts';

/**
 * Why a request failed. Stable, because the codes reach the log, the findings and the documentation.
 *
 * - `address-refused`: the host is, or resolves only to, an address that is not public
 * - `port-refused`, `scheme-refused`: the address of a redirect is not one that a repository would have
 * - `redirects`: more redirects than allowed; `redirect-insecure`: from https to http; `redirect-unreadable`
 * - `no-network`: the fault is ours: this machine has no connection, no name server answers, or the proxy refuses us
 * - `dns`: the name does not resolve; `connection`: refused, reset or closed before an answer
 * - `certificate-expired` (or not valid yet), `certificate-untrusted`, `certificate-name`: of another host; `tls`: any
 *   other failure of encryption
 * - `timeout`: no connection or no answer in time; `too-slow`: the body is slower than the minimum rate or takes longer
 *   than a request may take
 * - `too-large`: the body is longer than allowed; `headers-too-large`; `truncated`: the body ended early
 * - `protocol`: the answer is not HTTP
 * - `aborted`: the caller gave up
 */
export type NetworkErrorCode = keyof typeof networkTexts;

/**
 * A request without an answer, or a body that did not arrive completely. The evidence is in `cause`. The message may quote
 * a stranger and reach a terminal, so it is on one line and without control characters.
 */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  readonly code: NetworkErrorCode;
  /** Whether the same request may well succeed in a moment. */
  readonly transient: boolean;

  constructor(code: NetworkErrorCode, message: string, options?: { cause?: unknown; transient?: boolean }) {
    super(withoutControls(message), options);
    this.code = code;
    this.transient = options?.transient ?? (code === 'connection' || code === 'timeout' || code === 'truncated');
  }
}

// Error codes of OpenSSL's verification, and Node's code for a wrong name.
const certificateCodes: ReadonlyMap<string, NetworkErrorCode> = new Map([
  ['CERT_HAS_EXPIRED', 'certificate-expired'],
  ['CERT_NOT_YET_VALID', 'certificate-expired'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate-untrusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate-untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate-untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate-untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate-untrusted'],
  ['CERT_UNTRUSTED', 'certificate-untrusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate-name'],
]);

// Node adds advice for the user of a program to some messages, which does not apply here.
const withoutAdvice = (text: string): string => text.replace(/; if the root CA is installed locally.*$/s, '').trim();

const tlsCode =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO|INVALID_CA|INVALID_PURPOSE)/;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

// Failures of this machine: no route, address, file descriptor or memory, or blocked by its own firewall.
const ownCodes = /^(ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|EMFILE|ENFILE|ENOBUFS|ENOMEM|EACCES|EPERM)$/;

// undici's messages about an answer of status 100, or one that switches to another protocol, which nobody asked for.
const badAnswer = /^bad (?:response|upgrade)$/;

// If several addresses were tried, a refusal by the origin says more than a missing route.
const causeOf = (error: unknown): unknown => {
  if (!(error instanceof AggregateError)) return error instanceof Error ? error.cause : undefined;
  return error.errors.find((one) => !ownCodes.test(codeOf(one))) ?? error.errors[0];
};

// undici's messages about a proxy that opens no tunnel or requires authentication.
const proxyAnswer = /^Proxy (?:response|Authentication Required) \((\d{3})\)/;

/**
 * The answer of a proxy that opens no tunnel (RFC 9110, section 15): with 4xx it refuses what we ask, which is between
 * us and the proxy; with 5xx it did not reach the origin, and nobody else can tell us why.
 */
const readProxyAnswer = (text: string, host: string | undefined, cause: unknown): NetworkError | undefined => {
  const status = Number(proxyAnswer.exec(text)?.[1]);
  if (Number.isNaN(status)) return undefined;
  const words = `the proxy answers ${status}${host === undefined ? '' : ` for ${host}`}`;
  if (status === 407) return new NetworkError('no-network', `${words}: it wants a user name and a password`, { cause });
  return status >= 500
    ? new NetworkError('connection', `${words}: it did not reach that host`, { cause })
    : new NetworkError('no-network', `${words}: it refuses the connection`, { cause });
};

/**
 * Classifies an error from undici, the resolver, the TLS layer or a socket. `reading` means that the headers had
 * arrived already, so that a closed connection is a truncated body. `host` is named if the error itself does not.
 */
export const toNetworkError = (error: unknown, reading: boolean, host?: string): NetworkError => {
  for (let current: unknown = error, depth = 0; current && depth < 4; current = causeOf(current), depth++) {
    if (current instanceof NetworkError) return current;
    // An AggregateError has the code of its first error, whichever that is.
    if (current instanceof AggregateError && current.errors.length > 0) continue;
    const code = codeOf(current);
    const text = textOf(current);
    const make = (name: NetworkErrorCode, transient?: boolean) =>
      new NetworkError(name, text, { cause: error, ...(transient === undefined ? {} : { transient }) });
    if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'ETIMEDOUT') {
      return make('timeout');
    }
    if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') return make('headers-too-large');
    if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' || code === 'HPE_INVALID_EOF_STATE') return make('truncated');
    if (current instanceof errors.HTTPParserError || badAnswer.test(text)) return make('protocol');
    const ofProxy = readProxyAnswer(text, host, error);
    if (ofProxy !== undefined) return ofProxy;
    if (code === 'UND_ERR_ABORTED' || code === 'UND_ERR_ABORT' || code === 'ABORT_ERR') return make('aborted');
    if (ownCodes.test(code)) return make('no-network', true);
    if (code === 'EAI_AGAIN') return make('dns', true);
    if (/^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED|EBADNAME)/.test(code)) return make('dns');
    const certificateCode = certificateCodes.get(code);
    if (certificateCode !== undefined || tlsCode.test(code)) {
      const words = `${host === undefined ? '' : `${host}: `}${withoutAdvice(text)}`;
      return new NetworkError(certificateCode ?? 'tls', words, { cause: error });
    }
    if (/^(ECONN|EPIPE|EHOSTUNREACH|UND_ERR_SOCKET)/.test(code)) {
      return make(reading ? 'truncated' : 'connection');
    }
  }
  return new NetworkError(reading ? 'truncated' : 'connection', textOf(error), { cause: error });
};
