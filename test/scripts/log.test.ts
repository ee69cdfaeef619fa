import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { leaveAlone } from '../support/building.ts';
import { publishBuild } from '../support/built.ts';
import { temporaryFolder } from '../support/folder.ts';
import { generatedRepositories } from '../support/generated.ts';
import { authenticate } from '../support/package-manager.ts';
import { type Published, publish } from '../support/published.ts';
import { runScript } from '../support/run-script.ts';

const running: ChildProcess[] = [];
const published: Published[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  for (const each of published.splice(0)) each.remove();
});

const serve = async (built: Published, flags: readonly string[] = [], errors: 'pipe' | number = 'pipe') => {
  const argv = [
    path.resolve('scripts/serve.ts'),
    '--out',
    built.folder,
    '--state',
    built.state,
    '--port',
    '0',
    ...flags,
  ];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', errors] });
  running.push(child);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  const address = /http:\/\/\S+/.exec(String(line))?.[0] ?? '';
  return { child, address, said: () => said, ended: once(child, 'close') };
};

const keep = (built: Published): Published => {
  published.push(built);
  return built;
};
/** A publication whose catalog is damaged. */
const publishDamaged = (): Published => {
  const built = keep(publish());
  built.write('../state/catalog.sqlite', 'this is no database'.repeat(1000));
  return built;
};

describe('H11 npm run serve', () => {
  it('says less where it is told to, and why a damaged catalog does not answer, under the name that the answer has', async () => {
    const built = publishDamaged();
    const again = await serve(built, ['--log-level', 'error']);
    const answer = await fetch(`${again.address}/v2/jailbreak/package/search?q=snow`);
    expect(answer.status).toBe(503);
    const id = answer.headers.get('x-request-id') ?? 'none';
    await expect.poll(again.said).toContain(id);
    const lines = again
      .said()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.find(({ request }) => request === id)).toMatchObject({
      level: 'error',
      message: 'The search index did not answer',
      operation: 'packageSearch',
      causes: [expect.objectContaining({ message: expect.stringMatching(/not a database/) })],
    });
    expect(lines.filter(({ level }) => level !== 'error')).toEqual([]);
    const { status, text: refused } = await runScript('serve', ['--log-level', 'loud']);
    expect(status).toBe(2);
    expect(refused).toContain('--log-level must be one of debug, info, warn, error, not "loud"');
  });
});

describe('H12 npm run serve', () => {
  it('writes as lines of JSON that it started and stops, and holds no handle of a sign-in in the fullest log of requests', async () => {
    const built = keep(await publishBuild(generatedRepositories()));
    const { address, said, child, ended } = await serve(built, ['--access-log', 'full']);
    const { searchParams, href } = new URL(await authenticate(address));
    const handle = searchParams.get('request') ?? '';
    expect(handle.length).toBeGreaterThan(20);
    await fetch(`${address}${new URL(href).pathname}?${searchParams}`);
    await fetch(`${address}/v2/login/callback?code=canary-code&state=canary-state`);
    await fetch(`${address}/v2/jailbreak/package/search?q=canary-word`);
    await expect.poll(said).toContain('canary-word');
    expect(said()).toContain('gateway.login');
    expect(said()).not.toContain(handle);
    expect(said()).not.toMatch(/canary-(?:code|state)/);
    child.kill('SIGTERM');
    await ended;
    const lines = said()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string });
    expect(lines.map(({ event }) => event).filter((event) => event !== 'request')).toEqual(['started', 'stopping']);
  });

  it.skipIf(!existsSync('/dev/full'))('goes on where its log cannot be written', async () => {
    const built = publishDamaged();
    const full = openSync('/dev/full', 'w');
    const { address, child } = await serve(built, ['--access-log', 'full'], full);
    closeSync(full);
    built.write('../state/generation.json', '{}');
    for (let number = 0; number < 100; number++) {
      expect((await fetch(`${address}/v2/jailbreak/package/search?q=n${number}`)).status).toBeGreaterThanOrEqual(200);
    }
    expect((await fetch(`${address}/v2/livez`)).status).toBe(200);
    expect(child.exitCode).toBeNull();
  });
});

describe('H11 npm run build', () => {
  // It had published all the same, and ended with the code of one that had not.
  it.skipIf(!existsSync('/dev/full'))('ends as it went where what it says cannot be written', async () => {
    const folder = temporaryFolder();
    const [state, out] = [path.join(folder, 'state'), path.join(folder, 'dist')];
    const full = openSync('/dev/full', 'w');
    const flags = [path.resolve('scripts/build.ts'), '--sample', '--no-site', '--state', state, '--out', out];
    const child = spawn(process.execPath, flags, { stdio: ['ignore', full, full] });
    closeSync(full);
    expect((await once(child, 'close'))[0]).toBe(0);
    expect(existsSync(path.join(out, 'v2/generation.json'))).toBe(true);
  });

  it('says as a line of the log that it failed, and why', async () => {
    const folder = temporaryFolder();
    const manifest = path.join(folder, 'manifest.json');
    writeFileSync(manifest, JSON.stringify([{ slug: 'away', uri: 'http://127.0.0.1:1/', ranking: 3 }]));
    // It failed before and is left alone, so that nothing waits for it to answer after all.
    await leaveAlone(path.join(folder, 'state'), 'away', new Date());
    const flags = ['--manifest', manifest, '--allow-private-networks', '--no-site'];
    const environment = { DEBDEX_STATE: path.join(folder, 'state'), DEBDEX_OUT: path.join(folder, 'dist') };
    const json = await runScript('build', [...flags, '--log-format', 'json'], { environment });
    const line = JSON.parse(json.error.trimEnd().split('\n').at(-1) ?? '');
    expect(line).toMatchObject({ level: 'error', event: 'failed', exit_code: json.status });
    expect(json.status).toBe(5);
    const text = await runScript('build', [...flags, '--log-format', 'text'], { environment });
    expect(text.error).toContain(`${line.message}\n`);
  });
});
