import { afterEach, expect, it, vi } from 'vitest';
import { assertDownloadsDatabase, readDownloadsAt } from '../../scripts/downloads-option.ts';
import { UsageError } from '../../scripts/options.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const worker = 'https://index.example.org';

it('asks a Worker for what it counted where the key is safe on its way, and in no other place as well', () => {
  vi.stubEnv('DEBDEX_OPERATOR_KEY', undefined);
  expect(readDownloadsAt(undefined, undefined)).toBeUndefined();
  expect(() => readDownloadsAt(worker, undefined)).toThrow(/DEBDEX_OPERATOR_KEY/);
  const operatorKey = 'k'.repeat(512);
  vi.stubEnv('DEBDEX_OPERATOR_KEY', operatorKey);
  for (const address of [worker, 'http://localhost:1', 'http://127.0.0.1:1', 'http://[::1]:1']) {
    expect(readDownloadsAt(address, undefined), address).toEqual({ address, operatorKey });
  }
  for (const address of [
    'http://index.example.org',
    'http://127.0.0.1.example.org',
    `${worker}?a`,
    `${worker}#a`,
    'https://user:password@index.example.org',
    'https://user@index.example.org',
    'x',
  ]) {
    expect(() => readDownloadsAt(address, undefined), address).toThrow(
      /must be the address of a Worker without user or password/,
    );
  }
  expect(() => readDownloadsAt(worker, 'postgres://a/b')).toThrow(/counted in one place/);
  vi.stubEnv('DEBDEX_OPERATOR_KEY', `${operatorKey}k`);
  expect(() => readDownloadsAt(worker, undefined)).toThrow(UsageError);
});

it('takes the address of a PostgreSQL database by either name of its scheme, and no other', () => {
  for (const url of [undefined, 'postgres://a/b', 'postgresql://user:password@a:1/b']) assertDownloadsDatabase(url);
  for (const url of ['postgres:///b', 'mysql://a/b', 'a', 'https://a/b']) {
    expect(() => assertDownloadsDatabase(url), url).toThrow(UsageError);
  }
});
