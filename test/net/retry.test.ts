import { describe, expect, it, onTestFinished } from 'vitest';
import { NetworkError, toNetworkError } from '../../src/net/network-error.ts';
import { readRedirect } from '../../src/net/redirects.ts';
import { computePause, parseRetryAfter } from '../../src/net/retry.ts';

const now = new Date('2026-06-01T12:00:00.000Z');
const day = 86_400_000;

describe('parseRetryAfter', () => {
  it.each([
    ['120', '2026-06-01T12:02:00.000Z'],
    [' 0 ', '2026-06-01T12:00:00.000Z'],
    ['Mon, 01 Jun 2026 12:10:00 GMT', '2026-06-01T12:10:00.000Z'],
    ['Mon, 01 Jun 2020 12:10:00 GMT', '2026-06-01T12:00:00.000Z'],
    ['9999999999', '2026-06-02T12:00:00.000Z'],
    ['Fri, 01 Jan 2100 00:00:00 GMT', '2026-06-02T12:00:00.000Z'],
  ])('C6: reads %s, within bounds', (field, moment) => {
    expect(parseRetryAfter(field, now, day)?.toISOString()).toBe(moment);
  });

  it('C6: reads a date without a zone, as asctime writes it, as of GMT, wherever this machine is', () => {
    const zone = process.env.TZ;
    onTestFinished(() => {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    });
    for (const name of ['Pacific/Kiritimati', 'America/St_Johns', 'UTC']) {
      process.env.TZ = name;
      for (const field of [
        'Mon Jun  1 12:10:00 2026',
        'Mon, 01 Jun 2026 12:10:00',
        'Mon, 01 Jun 2026 14:10:00 +0200',
      ]) {
        expect(parseRetryAfter(field, now, day)?.toISOString(), `${field} in ${name}`).toBe('2026-06-01T12:10:00.000Z');
      }
    }
  });

  it.each([null, '', 'soon', '-5', '1e400', '99999999999999'])('C6: does not make anything of %s', (field) => {
    expect(parseRetryAfter(field, now, day)).toBeUndefined();
  });
});

describe('computePause', () => {
  it('C6: doubles, and takes off up to a half at random', () => {
    expect([1, 2, 3].map((repetition) => computePause(1000, repetition, () => 0))).toEqual([1000, 2000, 4000]);
    expect(computePause(1000, 2, () => 0.999)).toBeCloseTo(1001, -1);
    const pauses = new Set(Array.from({ length: 50 }, () => computePause(1000, 1)));
    expect(pauses.size).toBeGreaterThan(40);
  });
});

describe('readRedirect', () => {
  it('C1: never from https to http, and back is fine', () => {
    const secure = new URL('https://repo.example/x/Release');
    expect(() => readRedirect(secure, 'http://repo.example/x/Release', '')).toThrow(/from https to http/);
    expect(readRedirect(secure, '../y/Release', '').href).toBe('https://repo.example/y/Release');
    expect(readRedirect(new URL('http://repo.example/'), 'https://repo.example/', '').protocol).toBe('https:');
  });

  it('quotes what cannot be read without control characters, which may be commands of a terminal', () => {
    const from = new URL('http://repo.example/');
    expect(() => readRedirect(from, 'http://[\u009b31m', '')).toThrow(/ redirects to "http:\/\/\[\ufffd31m"$/);
  });

  it('C1: to ports that are usual, or that the first address has', () => {
    const from = new URL('http://repo.example:9000/');
    expect(readRedirect(from, 'http://repo.example:9000/a', '9000').port).toBe('9000');
    expect(readRedirect(from, 'https://repo.example:8443/a', '9000').port).toBe('8443');
    expect(() => readRedirect(from, 'http://repo.example:6379/', '9000')).toThrow(NetworkError);
  });
});

describe('toNetworkError', () => {
  it.each([
    [Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }), 'certificate-expired'],
    [Object.assign(new Error('x'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'certificate-name'],
    [Object.assign(new Error('x'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'certificate-untrusted'],
    [Object.assign(new Error('x'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }), 'certificate-untrusted'],
    [new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]), 'connection'],
    [new Error('outer', { cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }) }), 'dns'],
    ['a string', 'connection'],
  ])('%s is %s', (thrown, code) => {
    expect(toNetworkError(thrown, false)).toMatchObject({ code });
  });
});
