import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { documentPath } from '../../src/contract/paths.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { openWay } from '../support/database-way.ts';
import { temporaryFolder } from '../support/folder.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { newDatabase } from '../support/new-database.ts';
import { patience } from '../support/patience.ts';
import { runScript } from '../support/run-script.ts';

const project = path.join(import.meta.dirname, '..', '..');
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** Starts the command, under a shell command that may set limits first. */
const start = async (flags: readonly string[], limits = '') => {
  const command = [process.execPath, 'scripts/serve.ts', '--port', '0', '--poll-interval', '1s', ...flags];
  const child = spawn('sh', ['-c', `${limits} exec "$@"`, 'sh', ...command], { cwd: project });
  running.push(child);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output.text += piece));
  const ended = once(child, 'close');
  while (!output.text.includes('Listening on')) {
    if ((await Promise.race([ended.then(() => 'ended'), once(child.stdout, 'data')])) === 'ended') break;
  }
  const address = /http:\/\/\S+(?=\n)/.exec(output.text.slice(output.text.indexOf('Listening')))?.[0] ?? '';
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    await ended;
  };
  return { address, output, stop };
};

/** Resolves when the description of the package is this, as the replica answers. */
const untilSays = async (address: string, text: string) => {
  const says = async () => {
    const answer = await fetch(`${address}/v2/jailbreak/package/com.example.one`).catch(() => undefined);
    return (await answer?.text()) ?? '';
  };
  await expect.poll(says, patience).toContain(text);
};

const publishOne = (publication: BuiltPublication, text: string) =>
  publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.one', Description: text }) }]);

describe('npm run serve -- --from', () => {
  it.each([
    [['--from', 'nowhere'], '--from must be the http or https address of a publication, not "nowhere"'],
    [['--from', 'http://127.0.0.1:1', '--public-key', 'short'], '--public-key must be the 43 characters'],
    [['--public-key', 'A'.repeat(43)], '--public-key is of a replica: name the publication with --from URL'],
    [['--count-downloads'], '--count-downloads is of a replica'],
    [['--from', 'http://127.0.0.1:1', '--poll-interval', 'soon'], '--poll-interval must be a time such as'],
  ])('says what is wrong with %j', async (flags, sentence) => {
    const { status, text } = await runScript('serve', ['--state', temporaryFolder(), ...flags]);
    expect(text).toContain(sentence);
    expect(status).toBe(2);
  });

  it('P3: needs nothing but an address, is whole after any kill, and starts again with the address away', async () => {
    const publication = new BuiltPublication();
    const origin = await new FileOrigin(publication.folder).open();
    const flags = ['--from', origin.address, '--state', temporaryFolder()];
    await publishOne(publication, 'state 0.');
    let running = await start(flags);
    await untilSays(running.address, 'state 0.');
    for (let kill = 1; kill <= timesFrom('DEBDEX_TEST_KILLS', 2); kill++) {
      const asked = origin.asked.length;
      await publishOne(publication, `state ${kill}.`);
      // From when it asks for the new one, which takes it a tenth of a second.
      await expect.poll(() => origin.asked.length, { ...patience, interval: 5 }).toBeGreaterThan(asked);
      await sleep(Math.random() * 300);
      await running.stop('SIGKILL');
      // Whatever it had begun, it answers at once from one state or the other, and goes on.
      running = await start(flags);
      const answer = await fetch(`${running.address}/v2/jailbreak/package/com.example.one`);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toMatch(/state \d+\./);
      await untilSays(running.address, `state ${kill}.`);
      expect(running.output.text).not.toContain('damaged');
    }
    await running.stop('SIGKILL');
    await origin.close();
    const alone = await start(flags);
    await untilSays(alone.address, 'state ');
    expect((await fetch(`${alone.address}/v2/readyz`)).status).toBe(200);
    await alone.stop();
  }, 600_000);

  it('P3: goes on while the disk is full, says so once, and takes the new one when there is room', async () => {
    const publication = new BuiltPublication();
    const origin = await new FileOrigin(publication.folder).open();
    const flags = ['--from', origin.address, '--state', temporaryFolder()];
    await publishOne(publication, 'state 1.');
    const first = await start(flags);
    await untilSays(first.address, 'state 1.');
    await first.stop();
    await publishOne(publication, 'state 2.');
    // No file may grow beyond 32 KB.
    const full = await start(flags, 'ulimit -f 64;');
    await expect.poll(() => full.output.text, patience).toContain('make room');
    await untilSays(full.address, 'state 1.');
    const asked = origin.asked.length;
    await expect.poll(() => origin.asked.length, patience).toBeGreaterThan(asked + 2);
    expect(full.output.text.match(/replica-trouble/g)).toHaveLength(1);
    await full.stop();
    const roomy = await start(flags);
    await untilSays(roomy.address, 'state 2.');
    expect(roomy.output.text).toMatch(/"event":"generation-taken".*"generation":2/);
    await roomy.stop();
    await origin.close();
  }, 600_000);

  it('T12, T15: killed while it sends what it counted, it loses none of it and has none counted twice', async () => {
    const publication = new BuiltPublication();
    const ids = Array.from({ length: 40 }, (_, number) => `p${number}`);
    const all = ['com.example.one', ...ids].map((Package) => ({ Package, Description: 'state 1.' }));
    await publication.publish([{ slug: 'one', packages: packages(...all) }]);
    const origin = await new FileOrigin(publication.folder).open();
    const database = await newDatabase();
    const way = await openWay(database);
    const folder = ['--from', origin.address, '--state', temporaryFolder(), '--downloads-database'];
    const report = async (address: string, some: readonly string[]): Promise<void> => {
      await untilSays(address, 'state 1.');
      const send = async (): Promise<number> => {
        const { status } = await fetch(`${address}/v2/jailbreak/download/ingest`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(some.map((id) => ({ package_id: id, package_version: '1.0' }))),
        });
        return status;
      };
      // Refused where the machine is busy, it may be sent again and counts once all the same. What was acknowledged here
      // is what has to be there in the end.
      await expect.poll(send, patience).toBe(200);
    };
    const reported = ids.values();
    const halts = ['after the commit', 'before the commit'] as const;
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    for (const [number, halt] of halts.entries()) {
      // What the one that was killed before had under way is sent again first.
      const halted = way.halt(halt, number === 0 ? 0 : 1);
      const killed = await start([...folder, way.url]);
      await report(killed.address, reported.take(10).toArray());
      await halted;
      await killed.stop('SIGKILL');
      // They would tell that these clients are counted, but not every count has one.
      await client.query('DELETE FROM downloads_mark');
    }
    const last = await start([...folder, database]);
    await report(last.address, reported.toArray());
    const counted = async () =>
      (await client.query<{ count: string }>('SELECT package_id, sum(count) AS count FROM downloads GROUP BY 1')).rows;
    // Counts are sent in the order in which they came, so with the last one all are there.
    await expect.poll(async () => (await counted()).length, patience).toBe(ids.length);
    expect((await counted()).filter(({ count }) => count !== '1')).toEqual([]);
    await client.end();
    const told = async () => (await fetch(`${last.address}/v2/jailbreak/download/p0`)).json();
    await expect.poll(told, patience).toMatchObject({ data: { total: 1 } });
    await last.stop('SIGKILL');
    await origin.close();
  }, 600_000);

  it('warns that a replica has no gateway where one is configured', async () => {
    const nobody = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port } = nobody.address() as AddressInfo;
    const flags = ['--from', `http://127.0.0.1:${port}`, '--state', temporaryFolder()];
    const started = await start(flags, 'GATEWAY_SIGN_IN_RATE=1; export GATEWAY_SIGN_IN_RATE;');
    expect(started.output.text).toContain('A replica has no gateway');
    expect((await fetch(`${started.address}/v2/authenticate`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${started.address}/${documentPath.landing}`)).status).toBe(503);
    await started.stop();
    nobody.close();
  });
});
