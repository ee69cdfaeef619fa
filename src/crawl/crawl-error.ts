import { type FailureCode, operatorSentence } from '../contract/finding-texts.ts';
import type { HeldBack } from '../snapshots/snapshot.ts';

/** Why a repository was not crawled anew. Stable. */
export type CrawlCode = FailureCode;

// A stranger chooses the addresses of redirects, and what went wrong is published, kept and sent to operators. What can
// be said of an index in each of its compressions has room.
const longestDetail = 1000;

const shorten = (detail: string): string =>
  detail.length > longestDetail ? `${detail.slice(0, longestDetail).toWellFormed()}…` : detail;

/** A repository, or one of its files, that cannot be used. The evidence in words is `detail`, cut where it is very long. */
export class CrawlError extends Error {
  override readonly name = 'CrawlError';
  readonly code: CrawlCode;
  readonly detail: string;
  /** No request to this host before, where the origin said so. */
  readonly notBefore: Date | undefined;
  /** What was found and not taken, where the operator may want it all the same. */
  readonly refused: HeldBack | undefined;

  constructor(code: CrawlCode, detail: string, options?: { cause?: unknown; notBefore?: Date; refused?: HeldBack }) {
    const short = shorten(detail);
    super(operatorSentence(code, short), options);
    this.code = code;
    this.detail = short;
    this.notBefore = options?.notBefore;
    this.refused = options?.refused;
  }
}
