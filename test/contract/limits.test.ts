import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { amountOf, type LimitName, limitNote, limits, limitTable } from '../../src/contract/limits.ts';
import { answerMaximum, queryParameters } from '../../src/contract/parameters.ts';

const page = readFileSync(path.join(import.meta.dirname, '..', '..', 'docs', 'limits.md'), 'utf8');

describe('the table of limits', () => {
  it('C7: is what docs/limits.md says, limit by limit', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const expected = Object.entries(limitTable).map(
      ([name, { of, reason }]) => `| \`${name}\` | ${of} | ${amountOf(name as LimitName)} | ${reason} |`,
    );
    expect(rows).toEqual(expected);
  });

  it('names a limit with its unit', () => {
    expect(limitNote('indexBytes')).toBe(`limit indexBytes: 268,435,456 bytes`);
    expect(limitNote('recordsPerPackage', 5)).toBe('limit recordsPerPackage: 5');
  });

  it('C7: fits together', () => {
    const { lookupWaitMs, lookupMs, connectMs, headersMs, totalMs, embeddedBytes, releaseFieldBytes } = limits;
    expect(lookupWaitMs + lookupMs + connectMs).toBeLessThanOrEqual(headersMs);
    expect(headersMs).toBeLessThan(totalMs);
    // Name, description and version of a repository leave room for its addresses and sections.
    expect(3 * releaseFieldBytes).toBeLessThan(embeddedBytes);
    expect(limits.recordBytes).toBeLessThan(limits.packageBytes);
    // No repository can have its records refuse a search.
    const largestPage = queryParameters.limit.schema.maximum ?? Number.POSITIVE_INFINITY;
    expect(largestPage * (limits.recordBytes + limits.embeddedBytes)).toBeLessThan(answerMaximum);
    expect(limits.packageBytes).toBeLessThan(limits.publishedBytes);
  });
});
