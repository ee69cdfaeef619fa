import { describe, expect, it } from 'vitest';
import { asksForJson, chooseEncoding, prefersHtml } from '../../functions/http/accept-header.ts';

describe('chooseEncoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['deflate', 'identity'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip;q=0.9', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['zstd', 'zstd'],
    ['br;q=0, *', 'zstd'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity, gzip', 'gzip'],
    ['gzip;q=banana', 'gzip'],
    ['gzip;q=7', 'identity'],
  ])('%s → %s', (header, expected) => {
    expect(chooseEncoding(header)).toBe(expected);
  });

  it('H7: reads 64 wishes of a header, and 256 characters of each', () => {
    expect(chooseEncoding(`gzip;${'x'.repeat(240)};q=0`)).toBe('identity');
    expect(chooseEncoding(`gzip;${'x'.repeat(260)};q=0`)).toBe('gzip');
    expect(chooseEncoding(`${'deflate,'.repeat(63)}gzip`)).toBe('gzip');
    expect(chooseEncoding(`${'deflate,'.repeat(64)}gzip`)).toBe('identity');
  });
});

describe('prefersHtml', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/json', false],
    ['text/html', true],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['text/html;q=0.8, application/json', false],
    ['application/json;q=0.8, text/html', true],
    ['text/html, application/json', false],
    ['text/*;q=0.9, */*;q=0.1', true],
    ['text/html;q=0', false],
    ['TEXT/HTML', true],
  ])('%s → %s', (header, expected) => {
    expect(prefersHtml(header)).toBe(expected);
  });
});

describe('asksForJson', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/*', false],
    ['application/json', true],
    ['APPLICATION/JSON; charset=utf-8', true],
    ['application/json, */*;q=0.1', true],
    ['application/json, text/plain, */*', true],
    ['application/json;q=0, */*', false],
    ['text/html;q=0, application/json', true],
    ['text/html;q=0.1, application/json', false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
    ['application/ld+json', false],
  ])('%s → %s', (header, expected) => {
    expect(asksForJson(header)).toBe(expected);
  });
});
