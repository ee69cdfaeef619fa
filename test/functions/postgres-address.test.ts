import { expect, test } from 'vitest';
import { readStoreLocation } from '../../functions/gateway/configuration.ts';
import { asVerifyFull } from '../../functions/postgres-address.ts';

test('modes that the driver would warn about in lines of its own are written as the one that it takes them for', () => {
  const full = 'postgres://user:sslmode=require@db/x?sslmode=verify-full&sslrootcert=/ca.crt';
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    expect(asVerifyFull(full.replace('verify-full', mode)), mode).toBe(full);
    const url = `postgresql://db/x?application_name=a&sslmode=${mode}`;
    expect(readStoreLocation({ GATEWAY_DATABASE_URL: url }, 'state'), mode).toMatchObject({
      url: 'postgresql://db/x?application_name=a&sslmode=verify-full',
    });
  }
});

test('every other address stays as it is', () => {
  for (const query of [
    '',
    '?sslmode=disable',
    '?sslmode=no-verify',
    '?sslmode=required',
    '?uselibpqcompat=true&sslmode=require',
  ]) {
    expect(asVerifyFull(`postgres://user:password@db/x${query}`)).toBe(`postgres://user:password@db/x${query}`);
  }
});
