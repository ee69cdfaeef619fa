import { type FailureCode, operatorSentence } from '../contract/finding-texts.ts';
import type { HeldBack } from '../snapshots/snapshot.ts';

/** Why a repository was not crawled anew. Stable. */
export type CrawlCode = FailureCode;

/** A repository, or one of its files, that cannot be used. The evidence in words is `detail`. */
export class CrawlError extends Error {
  override readonly name = 'CrawlError';
  readonly code: CrawlCode;
  readonly detail: string;
  /** No request to this host before, where the origin said so. */
  readonly notBefore: Date | undefined;
  /** What was found and not taken, where the operator may want it all the same. */
  readonly refused: HeldBack | undefined;

  constructor(code: CrawlCode, detail: string, options?: { cause?: unknown; notBefore?: Date; refused?: HeldBack }) {
    super(operatorSentence(code, detail), options);
    this.code = code;
    this.detail = detail;
    this.notBefore = options?.notBefore;
    this.refused = options?.refused;
  }
}
