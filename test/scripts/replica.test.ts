import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
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

/** What the replica answers of the package; nothing where it does not answer. */
const ask = async (address: string): Promise<string> => {
  const answer = await fetch(`${address}/v2/jailbreak/package/com.example.one`).catch(() => undefined);
  return (answer?.ok && (await answer.text())) || '';
};

/** Resolves when the description of the package is this, as the replica answers. */
const untilSays = (address: string, text: string) => expect.poll(() => ask(address), patience).toContain(text);

describe('npm run serve -- --from', () => {
  it.each([
    [['--from', 'http://user:word@127.0.0.1:1'], '--from must not name a user or a password'],
    [['--from', 'nowhere'], '--from must be the http or https address of a publication, not "nowhere"'],
    [['--from', 'http://127.0.0.1:1', '--public-key', 'short'], '--public-key must be the 43 characters'],
    [['--public-key', 'A'.repeat(43)], '--public-key is of a replica: name the publication with --from URL'],
    [['--count-downloads'], '--count-downloads is of a replica'],
    [
      ['--from', 'http://127.0.0.1:1', '--out', 'dist'],
      '--out is of a server of a build: a replica keeps what it fetches',
    ],
    [['--from', 'http://127.0.0.1:1', '--out=dist'], '--out is of a server of a build'],
    [['--from', 'http://127.0.0.1:1', '--poll-interval', 'soon'], '--poll-interval must be a time such as'],
  ])('says what is wrong with %j', async (flags, sentence) => {
    const { status, text } = await runScript('serve', ['--state', temporaryFolder(), ...flags]);
    expect(text).toContain(sentence);
    expect(status).toBe(2);
  });

  // One replica after another in the same folder, each started for several questions: a start takes a second of a processor.
  it('P3, T12, T15: needs nothing but an address, is whole after any kill and loses or doubles no count, starts again with the address away, and goes on while the disk is full', async () => {
    const publication = new BuiltPublication();
    const origin = await new FileOrigin(publication.folder).open();
    const database = await newDatabase();
    const way = await openWay(database);
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    const ids = Array.from({ length: 40 }, (_, number) => `p${number}`);
    let state = -1;
    const publish = () => {
      const Description = `state ${++state}.`;
      const all = ['com.example.one', ...ids].map((Package) => ({ Package, Description }));
      return publication.publish([{ slug: 'one', packages: packages(...all) }]);
    };
    const flags = ['--from', origin.address, '--state', temporaryFolder()];
    const counting = [...flags, '--downloads-database', way.url];
    const report = async (address: string, some: readonly string[]): Promise<void> => {
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

    const kills = timesFrom('DEBDEX_TEST_KILLS', 2);
    const halts = ['after the commit', 'before the commit'] as const;
    // Only of so many kills is asked what became of counts that were under way.
    let halted: Promise<void> | undefined = way.halt(halts[0], 0);
    let running = await start(counting, 'GATEWAY_SIGN_IN_RATE=1; export GATEWAY_SIGN_IN_RATE;');
    // Nothing is published yet, and where a gateway is configured it is told that a replica has none.
    expect(running.output.text).toContain('A replica has no gateway');
    expect((await fetch(`${running.address}/v2/authenticate`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${running.address}/${documentPath.landing}`)).status).toBe(503);
    await publish();
    await untilSays(running.address, 'state 0.');
    /** Starts without room for what is published meanwhile, and with the address away; a later start takes it. */
    const goOnWithoutRoom = async (): Promise<void> => {
      await origin.close();
      await publish();
      // No file may grow beyond 32 KB.
      const full = await start(flags, 'ulimit -f 64;');
      const answered = await ask(full.address);
      expect(answered).toMatch(/state \d+\./);
      expect((await fetch(`${full.address}/v2/readyz`)).status).toBe(200);
      await origin.open();
      await expect.poll(() => full.output.text, patience).toContain('make room');
      const asked = origin.asked.length;
      await expect.poll(() => origin.asked.length, patience).toBeGreaterThan(asked + 2);
      expect(await ask(full.address)).toBe(answered);
      expect(full.output.text.split('\n').filter((line) => line.includes('make room'))).toHaveLength(1);
      await full.stop();
    };
    for (let kill = 1; kill <= kills; kill++) {
      await report(running.address, reported.take(10).toArray());
      await halted;
      const asked = origin.asked.length;
      await publish();
      // From when it asks for the new one, which takes it a tenth of a second.
      await expect.poll(() => origin.asked.length, { ...patience, interval: 5 }).toBeGreaterThan(asked);
      await sleep(Math.random() * 300);
      await running.stop('SIGKILL');
      // They would tell that these clients are counted, but not every count has one.
      await client.query('DELETE FROM downloads_mark');
      const halt = halts[kill];
      // What the one that was killed before had under way is sent again first.
      halted = halt && way.halt(halt, 1);
      if (halt === undefined) way.pass();
      if (kill === kills) await goOnWithoutRoom();
      // Whatever it had begun, it answers at once from one state or the other, and goes on.
      running = await start(counting);
      expect(await ask(running.address)).toMatch(/state \d+\./);
      await untilSays(running.address, `state ${state}.`);
      expect(running.output.text).not.toContain('damaged');
    }
    await report(running.address, reported.toArray());
    const counted = async () =>
      (await client.query<{ count: string }>('SELECT package_id, sum(count) AS count FROM downloads GROUP BY 1')).rows;
    // Counts are sent in the order in which they came, so with the last one all are there.
    await expect.poll(async () => (await counted()).length, patience).toBe(ids.length);
    expect((await counted()).filter(({ count }) => count !== '1')).toEqual([]);
    await client.end();
    const told = async () => (await fetch(`${running.address}/v2/jailbreak/download/p0`)).json();
    await expect.poll(told, patience).toMatchObject({ data: { total: 1 } });
    // Answers may say so before the line of it came.
    await expect.poll(() => running.output.text, patience).toMatch(/"event":"generation-taken"/);
    await running.stop();
    await origin.close();
  }, 600_000);
});
