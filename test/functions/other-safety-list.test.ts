import { writeFileSync } from 'node:fs';
import path from 'node:path';
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
  const lines: Record<string, unknown>[] = [];
  const server = await startBuildHost({
    ...{ out: publication.folder, state: publication.state, host: '127.0.0.1', port: 0, rate: 0, answerMemory: 0 },
    ...{ trustedProxies: 0, limits: {}, olderAddresses: true, accessLog: 'off', safetyList: safetyFile },
    ...{ environment: {}, development: false },
    log: createLog({ level: 'warn', format: 'json', write: (text) => void lines.push(JSON.parse(text)) }),
  });
  onTestFinished(server.close);
  const told = () => lines.filter(({ event }) => event === 'other-safety-list').map(({ message }) => message);
  expect(told()).toEqual([]);
  writeFileSync(path.join(publication.folder, olderOperations.unsafeHosts.file), '["bad.example"]');
  await publish('second');
  await expect.poll(told, patience).toEqual([expect.stringMatching(/calls bad\.example safe, .* --data of the build/)]);
});
