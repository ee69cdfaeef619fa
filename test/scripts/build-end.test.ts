import { describe, expect, it } from 'vitest';
import { emptyBuildFailure, toCommandFailure } from '../../scripts/build-end.ts';
import { exitCodes } from '../../scripts/exit-codes.ts';
import type { CrawlOutcome } from '../../src/crawl/crawl.ts';
import { NoFolder } from '../../src/publication/folder-content.ts';
import { NoBundle } from '../../src/site/bundle.ts';

const outcomesOf = (codes: readonly CrawlOutcome['code'][]) => ({
  outcomes: codes.map((code) => ({ code }) as CrawlOutcome),
});
const endOf = (...codes: CrawlOutcome['code'][]) => emptyBuildFailure(outcomesOf(codes), undefined).exitCode;

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

  it('C12: says of no repository that it could not be read where it was stopped before it came to all', () => {
    for (const codes of [[], ['dns'], ['release-missing']] as const) {
      const { message, exitCode } = emptyBuildFailure(outcomesOf(codes), 'SIGTERM');
      expect(message).toContain('stopped before any repository was read');
      expect(exitCode).toBe(1);
    }
  });
});

it('C12: a build whose output folder is a file ends with what to do, and nothing else', () => {
  const message = '/srv/x is no folder: name one, or a name that is free.';
  expect(toCommandFailure(new NoFolder(message))).toMatchObject({ message, exitCode: exitCodes.failed });
});

it('C12: a build without a bundle of the pages ends with what to do, and nothing else', () => {
  const { message } = new NoBundle();
  expect(toCommandFailure(new NoBundle())).toMatchObject({ message, exitCode: exitCodes.failed });
});
