import { describe, expect, it } from 'vitest';
import { emptyBuildFailure } from '../../scripts/build-end.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';

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
