import { describe, expect, it } from 'vitest';
import { HttpError } from '../../functions/http/answers.ts';
import { readQuery } from '../../functions/http/request-query.ts';
import { operations } from '../../src/contract/paths.ts';

const read = (query: string) => readQuery(`http://localhost/search?${query}`, operations.packageSearch.query);

it('H7 a refusal notes no stack, and errors after it do', () => {
  expect(new HttpError(429, 'Later').stack).not.toMatch(/\n\s+at /);
  expect(new Error('A fault').stack).toMatch(/\n\s+at /);
});

describe('H7 query of a request', () => {
  it.each([
    ['the same parameter', `q${'&q'.repeat(32_500)}`],
    ['the same parameter with a value', `q=a${'&q=a'.repeat(16_000)}`],
    ['two parameters by turns', 'q=a&limit=1&'.repeat(5_000)],
    ['separators', '&'.repeat(65_000)],
    ['equals signs', '='.repeat(65_000)],
    ['names that are not UTF-8', '&%ff='.repeat(13_000)],
    ['escapes that are none', `q=${'%'.repeat(65_000)}`],
  ])('H7 reads 64 KB of nothing but %s', (_, query) => {
    const begun = process.cpuUsage();
    expect(() => read(query)).toThrow(HttpError);
    // Every list of values that was made anew took five seconds.
    expect(process.cpuUsage(begun).user).toBeLessThan(200_000);
  });

  it('refuses what is given twice, and ignores what is not asked for however it is written', () => {
    expect(() => read('q=ab&q=cd')).toThrow("Query parameter 'q' must be given once");
    expect(() => read('q=ab&%71=cd&q=ef')).toThrow("Query parameter 'q' must be given once");
    expect(read('%ff=1&%71=ab&%E3%81%A1=2&__proto__=3&&=')).toEqual({ q: 'ab', limit: 100, page: 1 });
    const { uris } = readQuery('http://localhost/?uris=a%2Cb+%', operations.repositorySafety.query);
    expect(uris).toEqual(['a', 'b+%']);
  });

  it.each(['limit', 'firmware', 'kind', 'section', 'repository'] as const)('knows %s by any escapes', (name) => {
    const escaped = [...name].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    const value = name === 'limit' ? '5' : name === 'kind' ? 'tweaks' : '16.7';
    const plain = read(`q=ab&${name}=${value}`);
    expect(read(`q=ab&${escaped}=${value}`)).toEqual(plain);
    expect(read(`q=ab&${escaped.toUpperCase()}=${value}`)).toEqual(plain);
    expect(plain).not.toEqual({ q: 'ab', limit: 100, page: 1 });
  });

  // The signs beside the digits in ASCII: each would make the name of a parameter, with a wrong value.
  it.each(['%6gage', 'f%6`rmware', 'f%6@rmware'])('knows no name by %s', (name) => {
    expect(read(`q=ab&${name}=0.`)).toEqual({ q: 'ab', limit: 100, page: 1 });
  });

  it('refuses a value that is not UTF-8 by the name of its parameter', () => {
    expect(() => read('q=%ff')).toThrow("Query parameter 'q' must be percent-encoded UTF-8");
  });
});
