import { type FailureCode, operatorSentence } from '../contract/finding-texts.ts';
import { withoutControls } from '../contract/findings.ts';
import type { HeldBack } from '../snapshots/snapshot.ts';

/** Why a repository was not crawled again. Stable. */
export type CrawlCode = FailureCode;

// Strangers choose the addresses of redirects, and the detail is published, stored and sent to operators. There is room
// for a note about the index in each of its compressions.
const longestDetail = 1000;

const shorten = (detail: string): string =>
  detail.length > longestDetail ? `${detail.slice(0, longestDetail).toWellFormed()}…` : detail;

/** A moment, ISO 8601, in a reason: the status page shows reasons to visitors, too. */
export const sayMinute = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

/** The same to the second, as Release states its date: two that are compared may lie in one minute. */
export const saySecond = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

/**
 * What an origin answers where a file should be. RFC 9110, section 15.4.5: 304 answers a condition only, so it comes
 * here from an origin that does not heed that.
 */
export const sayStatus = (status: number, place: string | URL): string =>
  `status ${status} for ${place}${status === 304 ? ', which was asked for without a condition' : ''}`;

/**
 * An error of the store, for a reason. Reasons are published, and the folders of this machine are not: "EACCES:
 * permission denied, open '/var/lib/…'".
 */
export const sayFault = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'syscall' in error ? error.message.replace(/, \w+(?: '.*)?$/s, '') : error.message;
};

/** How large an index is. Not in packages, each of which may have several versions: a stanza is one version. */
export const sayStanzas = (count: number): string => `${count} ${count === 1 ? 'stanza' : 'stanzas'}`;

/**
 * A repository, or one of its files, that cannot be used. `detail` is the evidence in words, shortened if it is very
 * long, on one line and without control characters.
 */
export class CrawlError extends Error {
  override readonly name = 'CrawlError';
  readonly code: CrawlCode;
  readonly detail: string;
  /** No request to this host before that moment, if the origin said so. */
  readonly notBefore: Date | undefined;
  /** What was found and not taken, in case the operator wants it all the same. */
  readonly refused: HeldBack | undefined;
  /** The code of the failure because of which the repository is left alone, if it is. */
  readonly earlier: string | undefined;

  constructor(
    code: CrawlCode,
    detail: string,
    options?: { cause?: unknown; notBefore?: Date; refused?: HeldBack; earlier?: string | undefined },
  ) {
    const short = withoutControls(shorten(detail));
    super(operatorSentence(code, short), options);
    this.code = code;
    this.detail = short;
    this.notBefore = options?.notBefore;
    this.refused = options?.refused;
    this.earlier = options?.earlier;
  }
}
