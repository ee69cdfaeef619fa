import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openFetchHandler } from '../../functions/fetch/handler.ts';
import { readFetchSettings } from '../../functions/fetch/settings.ts';
import { startBuildHost } from '../../functions/node/host.ts';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { createLog } from '../../src/log/log.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';

const publish = async (more: number) => {
  const publication = new BuiltPublication();
  await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.one' }) }]);
  const database = new DatabaseSync(catalogPath(publication.state));
  database.exec(`PRAGMA user_version = ${catalogFormat + more}`);
  database.close();
  return publication;
};

it.each([
  ['none', 0, undefined],
  ['an earlier one', -1, /by an earlier version of Debdex \(format \d+; .* build with this one\.$/],
  ['a later one', 1, /by a later version of Debdex \(format \d+; .* start the server with that one\.$/],
])('H11: a server says what to do about a catalog of another version: %s', async (_name, more, sentence) => {
  const publication = await publish(more);
  const lines: Record<string, unknown>[] = [];
  const server = await startBuildHost({
    ...{ out: publication.folder, state: publication.state, host: '127.0.0.1', port: 0, rate: 0, answerMemory: 0 },
    ...{ trustedProxies: 0, limits: {}, olderAddresses: true, accessLog: 'off', safetyList: safetyFile },
    ...{ environment: {}, development: false },
    log: createLog({ level: 'warn', format: 'json', write: (text) => void lines.push(JSON.parse(text)) }),
  });
  onTestFinished(server.close);
  const told = lines.filter(({ event }) => event === 'other-catalog');
  expect(told.map(({ message }) => message)).toEqual(sentence === undefined ? [] : [expect.stringMatching(sentence)]);
  // What the versions have in common is answered.
  expect((await fetch(`${server.address}/v2/jailbreak/package/search?q=example`)).status).toBe(200);
});

it('H11: the fetch handler says so, too, as where it was bundled before the version that builds', async () => {
  const { folder: DEBDEX_OUT, state: DEBDEX_STATE } = await publish(1);
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => told.mockRestore());
  const handler = openFetchHandler(readFetchSettings({ DEBDEX_OUT, DEBDEX_STATE }));
  onTestFinished(handler.close);
  const lines = told.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines).toMatchObject([{ event: 'other-catalog', message: expect.stringContaining('by a later version') }]);
});
