import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { publish } from '../support/published.ts';

// Tells of each package when something of it is first loaded.
const telling = `
import { registerHooks } from 'node:module';
const told = new Set();
registerHooks({
  load(url, context, next) {
    const name = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
    if (name && !told.has(name)) process.stdout.write('loads ' + name + '\\n');
    told.add(name);
    return next(url, context);
  },
});`;

const serve = async (environment: NodeJS.ProcessEnv = {}, flags: readonly string[] = []) => {
  const { folder, state, remove } = publish();
  const script = path.resolve('scripts/serve.ts');
  const preload = `data:text/javascript,${encodeURIComponent(telling)}`;
  const child = spawn(
    process.execPath,
    ['--import', preload, script, '--out', folder, '--state', state, '--port', '0', ...flags],
    { env: { ...process.env, ...environment } },
  );
  onTestFinished(() => {
    child.kill('SIGKILL');
    remove();
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece) => (text += piece));
  const ended = once(child, 'close');
  while (!text.includes('Listening on')) {
    await Promise.race([once(child.stdout, 'data'), ended]);
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`The server ended (${child.exitCode ?? child.signalCode}): ${text}`);
    }
  }
  const address = /Listening on (\S+)/.exec(text)?.[1] ?? '';
  return { address, loaded: () => Array.from(text.matchAll(/^loads (\S+)$/gm), ([, name]) => name).sort() };
};

const always = ['@hono/node-server', 'hono', 'js-yaml', 'zod'];

it('H10: a server loads what databases need when the gateway is first asked, and only of its own database', async () => {
  const { address, loaded } = await serve();
  expect((await fetch(`${address}/v2/jailbreak/package/com.example.one`)).status).toBe(200);
  expect(loaded()).toEqual(always);
  expect((await fetch(`${address}/v2/healthz`)).headers.get('content-type')).toMatch('json');
  expect(loaded()).toEqual([...always, 'kysely'].sort());
});

it('H10: a server loads the drivers of PostgreSQL and OpenID only where they are configured, and metrics where they are read', async () => {
  const { address, loaded } = await serve({ GATEWAY_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, [
    '--metrics-port',
    '0',
  ]);
  expect(loaded()).toContain('prom-client');
  expect(loaded()).not.toContain('pg');
  expect((await fetch(`${address}/v2/healthz`)).status).toBe(503);
  expect(loaded()).toContain('pg');
  expect(loaded()).not.toContain('openid-client');
});
