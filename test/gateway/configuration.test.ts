import { expect, test } from 'vitest';
import {
  ConfigurationInvalid,
  readGatewayConfiguration,
  readStoreLocation,
} from '../../functions/gateway/configuration.ts';
import { readTestConfiguration } from '../support/gateway-session.ts';

const mistakes = (environment: Record<string, string>) => {
  try {
    readTestConfiguration(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationInvalid) return error.mistakes;
    throw error;
  }
};

test('an empty environment is a working configuration for development', () => {
  expect(readTestConfiguration({ GATEWAY_DATABASE_URL: '', PATH: '/bin' })).toEqual({
    settings: {
      publicAddress: 'http://localhost:8080',
      callbacks: {
        addresses: [{ protocol: 'sileo:', host: 'authentication_success' }],
        schemes: new Set(),
        loopback: true,
      },
      credentialLife: 3_600_000,
      refreshLife: 180 * 24 * 3_600_000,
      signInRate: 0,
      deviceKey: undefined,
      introspectionSecrets: [],
    },
    store: { kind: 'sqlite', file: 'state/gateway.sqlite' },
    auditFile: 'state/gateway-audit.jsonl',
    openId: undefined,
    passwordChecks: 1,
    warnings: [],
  });
});

test('every setting is read', () => {
  const configuration = readTestConfiguration({
    NODE_ENV: 'production',
    PUBLIC_ADDRESS: 'https://repo.example/',
    GATEWAY_DATABASE_URL: 'postgres://user:secret@db/gateway',
    GATEWAY_DATABASE_POOL: '25',
    GATEWAY_CREDENTIAL_TTL: '600',
    GATEWAY_REFRESH_TTL: '86400',
    GATEWAY_CALLBACKS: 'sileo: app://back/done, https://app.example https://app.example:8443/back',
    GATEWAY_INTROSPECTION_SECRETS: 'a'.repeat(32),
    GATEWAY_DEVICE_KEY: 'd'.repeat(32),
    GATEWAY_PASSWORD_CHECKS: '3',
    GATEWAY_OIDC_ISSUER: 'https://id.example',
    GATEWAY_OIDC_CLIENT_ID: 'client',
    GATEWAY_OIDC_CLIENT_SECRET: 'secret',
    GATEWAY_OIDC_NAME: 'Example ID',
    GATEWAY_OIDC_SCOPE: 'openid groups',
    GATEWAY_OIDC_ALLOW: 'groups=people, staff of ours',
  });
  expect(configuration).toMatchObject({
    settings: {
      publicAddress: 'https://repo.example',
      callbacks: {
        schemes: new Set(['sileo:']),
        addresses: [
          { protocol: 'app:', host: 'back', path: '/done' },
          { protocol: 'https:', host: 'app.example' },
          { protocol: 'https:', host: 'app.example:8443', path: '/back' },
        ],
        loopback: false,
      },
      credentialLife: 600_000,
      refreshLife: 86_400_000,
      deviceKey: 'd'.repeat(32),
      introspectionSecrets: ['a'.repeat(32)],
    },
    store: { kind: 'postgres', url: 'postgres://user:secret@db/gateway', pool: 25 },
    openId: {
      issuer: 'https://id.example',
      clientId: 'client',
      clientSecret: 'secret',
      label: 'Example ID',
      insecure: false,
      scope: 'openid groups',
      allow: { claim: 'groups', values: ['people', 'staff of ours'] },
    },
    passwordChecks: 3,
  });
});

test('every mistake is reported at once', () => {
  const found = mistakes({
    NODE_ENV: 'production',
    GATEWAY_DATABASE_URL: 'mysql://db',
    GATEWAY_CREDENTIAL_TTL: '1h',
    GATEWAY_REFRESH_TTL: '99999999999',
    GATEWAY_CALLBACKS: 'sileo: javascript: https://app.example/path?query loopback https:',
    GATEWAY_CALBACKS: 'x',
    GATEWAY_ALLOW_HTTP: 'yes',
    GATEWAY_INTROSPECTION_SECRETS: 'short',
    GATEWAY_OIDC_ISSUER: 'http://id.example',
  });
  for (const part of [
    'GATEWAY_CALBACKS is not a setting',
    'GATEWAY_DATABASE_URL must be an address such as postgres://user:password@host/database',
    'GATEWAY_CREDENTIAL_TTL must be a whole number',
    'GATEWAY_REFRESH_TTL must be a whole number',
    "GATEWAY_CALLBACKS has 'javascript:'",
    "GATEWAY_CALLBACKS has 'https://app.example/path?query'",
    "GATEWAY_CALLBACKS has 'https:'",
    'GATEWAY_CALLBACKS allows http callbacks in production',
    'GATEWAY_ALLOW_HTTP must be true or false',
    'GATEWAY_INTROSPECTION_SECRETS must be secrets of 32 to 512 printable ASCII characters',
    'the public address must begin with https:// in production',
    'GATEWAY_OIDC_ISSUER must begin with https:// in production',
    'GATEWAY_OIDC_CLIENT_ID is missing',
    'GATEWAY_OIDC_CLIENT_SECRET is missing',
  ]) {
    expect(found.filter((mistake) => mistake.includes(part))).toHaveLength(1);
  }
  expect(found).toHaveLength(14);
  expect(mistakes({ GATEWAY_CREDENTIAL_TTL: '0', GATEWAY_OIDC_ALLOW: 'groups=people' })).toHaveLength(2);
});

test('a secret that is wrong is not repeated', () => {
  const found = mistakes({ GATEWAY_INTROSPECTION_SECRETS: 'hush', GATEWAY_DATABASE_URL: 'mysql://user:hush@db' });
  expect(found).toHaveLength(2);
  expect(found.join()).not.toContain('hush');
});

test('T11 a secret that no request could carry, or that could be read as two, is refused', () => {
  const [one, other] = ['a'.repeat(32), 'b'.repeat(32)];
  for (const secrets of [
    `${one},${other}`,
    `${one}, ${other}`,
    'a'.repeat(31),
    'a'.repeat(513),
    `${one}é`,
    `${one}\0`,
  ]) {
    expect(mistakes({ GATEWAY_INTROSPECTION_SECRETS: secrets }), secrets).toHaveLength(1);
  }
  const read = (secrets: string) =>
    readTestConfiguration({ GATEWAY_INTROSPECTION_SECRETS: secrets }).settings.introspectionSecrets;
  expect(read(` ${one}\n${other}  `)).toEqual([one, other]);
  expect(read(`${one}!"#$%&'()*+-./:;<=>?@[\\]^_\`{|}~`)).toHaveLength(1);
});

test('in production http needs to be asked for', () => {
  expect(mistakes({ NODE_ENV: 'production' })).toEqual([
    expect.stringContaining('the public address must begin with https://'),
  ]);
  const production = { NODE_ENV: 'production', PUBLIC_ADDRESS: 'https://repo.example' };
  expect(readTestConfiguration(production).settings.callbacks.loopback).toBe(false);
  expect(mistakes({ ...production, GATEWAY_CALLBACKS: 'loopback' })).toHaveLength(1);
  expect(mistakes({ ...production, GATEWAY_CALLBACKS: 'http://app.example' })).toHaveLength(1);
  const provider = {
    GATEWAY_OIDC_ISSUER: 'http://id.example',
    GATEWAY_OIDC_CLIENT_ID: 'x',
    GATEWAY_OIDC_CLIENT_SECRET: 'x',
  };
  expect(mistakes({ ...production, ...provider })).toEqual([
    expect.stringContaining('GATEWAY_OIDC_ISSUER must begin with https://'),
  ]);
  const allowed = { NODE_ENV: 'production', GATEWAY_ALLOW_HTTP: 'true' };
  expect(mistakes({ ...allowed, ...provider, GATEWAY_CALLBACKS: 'loopback' })).toEqual([]);
  // Permission for http elsewhere, such as for the provider, does not hand credentials to programs on a visitor's computer.
  expect(readTestConfiguration({ ...allowed, ...provider }).settings.callbacks.loopback).toBe(false);
});

test('a public https address is production unless the operator says otherwise', () => {
  const surroundings = { publicAddress: 'https://repo.example', state: 'state' };
  const read = (environment: Record<string, string>, more: { development?: boolean } = {}) =>
    readGatewayConfiguration(environment, { ...surroundings, ...more }).settings.callbacks.loopback;
  expect(read({})).toBe(false);
  expect(read({}, { development: true })).toBe(true);
  expect(read({ NODE_ENV: 'production' }, { development: true })).toBe(true);
  expect(() => read({ GATEWAY_CALLBACKS: 'loopback' })).toThrow('allows http callbacks in production');
  expect(read({ GATEWAY_CALLBACKS: 'loopback', GATEWAY_ALLOW_HTTP: 'true' })).toBe(true);
});

test('T1 a rule that would open other addresses, or that no callback could fit, is a mistake', () => {
  for (const entry of [
    'cydia://url',
    'sileo://source/x',
    'app://done/url/x',
    'app://done?x',
    'app://done#x',
    'app://user@done',
    'app://',
    'APP://done',
    'https://APP.example',
    'https://app.example/a/../b',
    'javascript://x',
    'data:x',
  ]) {
    expect(mistakes({ GATEWAY_CALLBACKS: entry }), entry).toEqual([expect.stringContaining(entry)]);
  }
});

test('T1 a scheme alone is warned about at the start, and so is http that is not of this computer', () => {
  const warnings = (environment: Record<string, string>) => readTestConfiguration(environment).warnings;
  expect(warnings({ GATEWAY_CALLBACKS: 'zbra: sileo://authentication_success app:' })).toEqual([
    expect.stringContaining('every address of zbra:'),
    expect.stringContaining('every address of app:'),
  ]);
  expect(warnings({ PUBLIC_ADDRESS: 'http://repo.example' })).toEqual([expect.stringContaining('unprotected')]);
  for (const address of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:8080', 'https://repo.example']) {
    expect(warnings({ PUBLIC_ADDRESS: address })).toEqual([]);
  }
});

test('a refresh token that ends with its credentials, so that none can be refreshed, is warned about at the start', () => {
  const warnings = (refresh: string, credentials: string) =>
    readTestConfiguration({ GATEWAY_REFRESH_TTL: refresh, GATEWAY_CREDENTIAL_TTL: credentials }).warnings;
  for (const [refresh, credentials] of [
    ['600', ''],
    ['60', '60'],
  ] as const) {
    expect(warnings(refresh, credentials)).toEqual([expect.stringContaining('GATEWAY_REFRESH_TTL')]);
  }
  expect(warnings('61', '60')).toEqual([]);
});

test('the OpenID settings go together', () => {
  expect(mistakes({ GATEWAY_OIDC_ISSUER: 'https://id.example' })).toEqual([
    expect.stringContaining('GATEWAY_OIDC_CLIENT_ID is missing'),
    expect.stringContaining('GATEWAY_OIDC_CLIENT_SECRET is missing'),
  ]);
});

test('what every sign-in at the provider would fail of is a mistake at the start', () => {
  const openId = {
    GATEWAY_OIDC_ISSUER: 'https://id.example',
    GATEWAY_OIDC_CLIENT_ID: 'x',
    GATEWAY_OIDC_CLIENT_SECRET: 'x y',
  };
  expect(mistakes(openId)).toEqual([]);
  for (const name of ['GATEWAY_OIDC_CLIENT_ID', 'GATEWAY_OIDC_CLIENT_SECRET']) {
    for (const text of ['hush\n', ' hush', 'hush\t', 'hush\r\n', 'hush\nhush', '\n']) {
      const found = mistakes({ ...openId, [name]: text });
      expect(found, JSON.stringify(text)).toEqual([expect.stringContaining(`${name} must be one line`)]);
      expect(found.join()).not.toContain('hush');
    }
  }
  for (const issuer of ['https://user:hush@id.example', 'https://user@id.example']) {
    const found = mistakes({ ...openId, GATEWAY_OIDC_ISSUER: issuer });
    expect(found, issuer).toEqual(['GATEWAY_OIDC_ISSUER must not name a user or a password']);
  }
  for (const issuer of ['HTTP://id.example', ' http://id.example']) {
    const http = { ...openId, GATEWAY_OIDC_ISSUER: issuer };
    expect(readTestConfiguration(http).openId?.insecure, issuer).toBe(true);
    expect(mistakes({ ...http, NODE_ENV: 'production', PUBLIC_ADDRESS: 'https://repo.example' }), issuer).toEqual([
      expect.stringContaining('GATEWAY_OIDC_ISSUER must begin with https://'),
    ]);
  }
});

test('a database whose host is left out, which the driver would look for here, is a mistake', () => {
  for (const url of ['postgres:///gateway', 'postgres://?sslmode=verify-full', 'postgresql:///gateway?host=']) {
    expect(mistakes({ GATEWAY_DATABASE_URL: url }), url).toEqual([
      expect.stringContaining('GATEWAY_DATABASE_URL must be an address such as'),
    ]);
  }
  expect(mistakes({ GATEWAY_DATABASE_URL: 'postgres:///gateway?host=/run/postgresql' })).toEqual([]);
});

test('T4 who is allowed by claim is said in full, or not at all', () => {
  const openId = {
    GATEWAY_OIDC_ISSUER: 'https://id.example',
    GATEWAY_OIDC_CLIENT_ID: 'x',
    GATEWAY_OIDC_CLIENT_SECRET: 'x',
  };
  for (const allow of ['groups', 'groups=', '=people', 'groups=people,', 'groups people']) {
    expect(mistakes({ ...openId, GATEWAY_OIDC_ALLOW: allow }), allow).toEqual([
      expect.stringContaining('GATEWAY_OIDC_ALLOW must be a claim and its values'),
    ]);
  }
  expect(mistakes({ GATEWAY_OIDC_ALLOW: 'groups=people' })).toEqual([expect.stringContaining('keeps nobody out')]);
  expect(mistakes({ ...openId, GATEWAY_OIDC_SCOPE: 'profile' })).toEqual([
    expect.stringContaining('openid among them'),
  ]);
});

test('a command needs the location of the store alone', () => {
  expect(readStoreLocation({ NODE_ENV: 'production', GATEWAY_CALLBACKS: '?' }, 'x')).toEqual({
    kind: 'sqlite',
    file: 'x/gateway.sqlite',
  });
  expect(readStoreLocation({ GATEWAY_DATABASE_URL: 'postgres://db/x' }, 'x')).toEqual({
    kind: 'postgres',
    url: 'postgres://db/x',
    pool: 10,
  });
  // Of an address without its two slashes the driver would take no host, and ask this machine.
  for (const url of ['x', 'postgres:/user@db/x', 'postgres:db/x'])
    expect(() => readStoreLocation({ GATEWAY_DATABASE_URL: url }, 'x'), url).toThrow(ConfigurationInvalid);
  // Where the name is mistyped, the store would be another one than the server's.
  expect(() => readStoreLocation({ GATEWAY_DATABASE_URI: 'postgres://db/x' }, 'x')).toThrow(
    'GATEWAY_DATABASE_URI is not a setting of the gateway',
  );
});
