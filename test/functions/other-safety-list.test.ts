import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startBuildHost } from '../../functions/node/host.ts';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { olderOperations } from '../../src/contract/older-addresses/operations.ts';
import { createLog } from '../../src/log/log.ts';
import { BuiltPublication } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { patience } from '../support/patience.ts';

it('E1: a running server tells of a later build whose safety list is another than its own', async () => {
  const publication = new BuiltPublication();
  const publish = (text: string) =>
    publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.a', Description: text }) }]);
  await publish('first');
  const own = path.join(publication.state, 'safety.yaml');
  copyFileSync(safetyFile, own);
  const lines: Record<string, unknown>[] = [];
  const server = await startBuildHost({
    ...{ out: publication.folder, state: publication.state, host: '127.0.0.1', port: 0, rate: 0, answerMemory: 0 },
    ...{ trustedProxies: 0, limits: {}, olderAddresses: true, accessLog: 'off', safetyList: pathToFileURL(own) },
    ...{ environment: {}, development: false },
    log: createLog({ level: 'warn', format: 'json', write: (text) => void lines.push(JSON.parse(text)) }),
  });
  onTestFinished(server.close);
  const told = () => lines.filter(({ event }) => event === 'other-safety-list').map(({ message }) => message);
  expect(told()).toEqual([]);
  writeFileSync(path.join(publication.folder, olderOperations.unsafeHosts.file), '["bad.example"]');
  await publish('second');
  await expect.poll(told, patience).toEqual([expect.stringMatching(/calls bad\.example safe, .* --data of the build/)]);
  // Where the list has changed right before the build, it is read before it is compared.
  appendFileSync(
    own,
    '\n- { host: listed.example, reason: Named for this test., date: 2026-11-01, source: https://example.org/ }\n',
  );
  const listed = JSON.stringify(['listed.example', 'worse.example']);
  writeFileSync(path.join(publication.folder, olderOperations.unsafeHosts.file), listed);
  await publish('third');
  await expect.poll(told, patience).toHaveLength(2);
  expect(told()[1]).toMatch(/calls worse\.example safe/);
});
