import { expect, it } from 'vitest';
import { composeBuildEnvironment } from '../../scripts/build-environment.ts';
import { buildOptions } from '../../scripts/build-options.ts';
import { type Command, readOptions } from '../../scripts/options.ts';
import { serverOptions } from '../../scripts/server-options.ts';

const command = {
  name: 'start',
  summary: '',
  options: { ...buildOptions, ...serverOptions },
} as const satisfies Command;
const compose = (argv: readonly string[], environment: Record<string, string> = {}) =>
  composeBuildEnvironment(readOptions(command, argv, environment) ?? expect.fail(), environment);

it('a build that is started for a server is told what that was told, before what its environment has', () => {
  const environment = { PATH: '/bin', DEBDEX_STATE: 'of the environment', DEBDEX_OUT: 'there', DEBDEX_STAET: 'x' };
  const told = compose(
    ['--state', 'typed', '--no-site', '--notify', 'https://a', '--notify', 'https://b'],
    environment,
  );
  expect(told).toMatchObject({
    PATH: '/bin',
    DEBDEX_STATE: 'typed',
    DEBDEX_OUT: 'there',
    DEBDEX_NO_SITE: 'true',
    DEBDEX_VERIFY: 'false',
    DEBDEX_NOTIFY: 'https://a https://b',
  });
  expect(told).not.toHaveProperty('DEBDEX_STAET');
  expect(told).not.toHaveProperty('DEBDEX_ONLY');
  // It reads all of that as the command did.
  const again = readOptions({ name: 'build', summary: '', options: buildOptions }, [], told);
  expect(again).toMatchObject({ state: 'typed', 'no-site': true, verify: false, notify: ['https://a', 'https://b'] });
});

it('links of what it builds lead to the port of the server, unless another address is named', () => {
  expect(compose([]).DEBDEX_BASE_URL).toBe('http://localhost:8080');
  expect(compose(['--port', '9']).DEBDEX_BASE_URL).toBe('http://localhost:9');
  expect(compose(['--port', '9', '--base-url', 'https://a']).DEBDEX_BASE_URL).toBe('https://a');
  expect(compose(['--port', '9'], { DEBDEX_BASE_URL: 'https://b' }).DEBDEX_BASE_URL).toBe('https://b');
});
