import { describe, expect, it } from 'vitest';
import { emptyBuildFailure, toCommandFailure } from '../../scripts/build-end.ts';
import { exitCodes } from '../../scripts/exit-codes.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import { NoBundle } from '../../src/site/bundle.ts';

const endOf = (...codes: CrawlOutcome['code'][]) =>
  emptyBuildFailure({ outcomes: codes.map((code) => ({ code }) as CrawlOutcome) }).exitCode;

describe('a build that has nothing to publish', () => {
  it('C12: counts as one that reached nobody only where no origin answered in any way', () => {
    for (const code of ['no-network', 'dns', 'connection', 'timeout', 'backing-off'] as const) {
      expect(endOf(code), code).toBe(5);
      expect(endOf(code, 'release-missing'), code).toBe(1);
    }
    for (const code of ['tls', 'store-failed', 'address-refused', 'internal'] as const)
      expect(endOf(code), code).toBe(1);
    expect(endOf()).toBe(1);
  });
});

it('C12: a build without a bundle of the pages ends with what to do, and nothing else', () => {
  const { message } = new NoBundle();
  expect(toCommandFailure(new NoBundle())).toMatchObject({ message, exitCode: exitCodes.failed });
});
