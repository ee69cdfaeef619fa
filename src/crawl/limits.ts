/** How much one repository may cost. Bytes, milliseconds. */
export interface CrawlLimits {
  /** Received for a Release, an InRelease or a signature. */
  readonly releaseBytes: number;
  /** Received for a Packages index. */
  readonly indexBytes: number;
  /** A Packages index, decompressed. */
  readonly textBytes: number;
  /** Bytes of a Packages index for each byte received. */
  readonly ratio: number;
  /** One repository, from its first request to its last. */
  readonly repositoryMs: number;
  /** Requests that may be repeated, for one repository. */
  readonly repetitions: number;
  readonly retryPauseMs: number;
  /** The longest pause asked for by an origin that is waited for within a run. */
  readonly waitMs: number;
  /** The longest pause that an origin may ask for at all. */
  readonly holdMs: number;
  /** How old the answers to what Release does not vouch for may grow: a signature, a payment endpoint. */
  readonly extrasMs: number;
}

export const usualLimits: CrawlLimits = {
  releaseBytes: 10_000_000,
  indexBytes: 256 * 2 ** 20,
  textBytes: 2 ** 30,
  ratio: 250,
  repositoryMs: 180_000,
  repetitions: 4,
  retryPauseMs: 1000,
  waitMs: 5000,
  holdMs: 24 * 3_600_000,
  extrasMs: 24 * 3_600_000,
};
