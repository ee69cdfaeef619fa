import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { bundleClient } from '../../scripts/bundling/bundle-client.ts';
import { CommandFailure } from '../../scripts/options.ts';
import { lockBundles } from '../../src/catalog/lock.ts';
import { generationPath } from '../../src/contract/generation.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/run-script.ts';

const bundle = (...flags: string[]) => runScript('bundle', flags);

it('bundles no Worker for a folder that it could not follow', async () => {
  const folder = temporaryFolder();
  expect(await bundle('cloudflare', '--publication', folder)).toMatchObject({
    status: 1,
    text: `There is no publication in ${folder}: build it first, with npm run build -- --portions.\n`,
  });
  const file = path.join(folder, generationPath.current);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '{}');
  const text = expect.stringContaining('without the portions that a Worker follows: build it again');
  expect(await bundle('cloudflare', '--publication', folder)).toMatchObject({ status: 1, text });
});

it('bundles no Worker of a name, a key or a gateway that cannot be, or with a safety list that cannot be read', async () => {
  const data = temporaryFolder();
  for (const [flags, text] of [
    [['--name', 'My_Worker'], '--name must be of small letters'],
    [['--name', 'worker-'], '--name must be of small letters'],
    [['--name', 'w'.repeat(64)], '--name must be of small letters'],
    [['--public-key', 'short'], '--public-key must be the 43 characters'],
    [['--gateway', 'object'], 'A gateway needs --base-url'],
    [['--publication', 'ftp://a.example'], '--publication must be a folder, r2:'],
    [['--data', data], 'There is no safety list'],
  ] as const) {
    const ended = await bundle('cloudflare', '--publication', 'https://a.example', ...flags);
    expect(ended, flags.join(' ')).toMatchObject({ status: 2, error: expect.stringContaining(text) });
  }
});

it('refuses flags of the Worker where something else is bundled', async () => {
  for (const flags of [['server', '--publication', 'x'], ['--name=x'], ['client', '--gateway', 'off']]) {
    const text = expect.stringMatching(
      /^--(?:publication|name|gateway) goes with cloudflare: npm run bundle -- cloudflare/,
    );
    expect(await bundle(...flags), flags.join(' ')).toMatchObject({ status: 2, text });
  }
});

it('bundles nothing beside another that bundles, and says who does', async () => {
  const unlock = lockBundles(path.join(import.meta.dirname, '..', '..', 'bundle'));
  for (const which of ['server', 'client', 'fetch']) {
    const text = expect.stringMatching(
      `being bundled into .+bundle already .process ${process.pid}, since .*: wait for it`,
    );
    expect(await bundle(which), which).toMatchObject({ status: 7, text });
  }
  unlock();
});

// As after npm ci --omit=dev.
it('says what the client needs where the development packages are not installed, and keeps the one that is there', async () => {
  const folder = temporaryFolder();
  const module = path.join(folder, 'client.mjs');
  writeFileSync(module, '');
  const made = bundleClient(folder, path.join(folder, 'tsc'));
  await expect(made).rejects.toThrow(CommandFailure);
  await expect(made).rejects.toThrow(/is not installed here: install the development packages too, with npm ci/);
  expect(existsSync(module)).toBe(true);
});
