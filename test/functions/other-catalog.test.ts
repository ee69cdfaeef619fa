import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { startBuildHost } from '../../functions/node/host.ts';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { catalogFormat } from '../../src/catalog/schema.ts';
import { catalogPath } from '../../src/catalog/state-catalog.ts';
import { createLog } from '../../src/log/log.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';

it.each([
  ['none', 0, undefined],
  ['an earlier one', -1, /by an earlier version of Debdex \(format \d+; .* build with this one\.$/],
  ['a later one', 1, /by a later version of Debdex \(format \d+; .* start the server with that one\.$/],
])('H11: a server says what to do about a catalog of another version: %s', async (_name, more, sentence) => {
  const publication = new BuiltPublication();
  await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.one' }) }]);
  const database = new DatabaseSync(catalogPath(publication.state));
  database.exec(`PRAGMA user_version = ${catalogFormat + more}`);
  database.close();
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
