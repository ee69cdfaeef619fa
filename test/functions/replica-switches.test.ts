import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { documentPath } from '../../src/contract/paths.ts';
import { TakenCatalog } from '../../src/following/taken-catalog.ts';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { startReplicaServer } from '../support/replica-server.ts';

const ids = Array.from({ length: 40 }, (_, index) => `com.example.p${index}`);

it('P2: loses no request while one generation follows the other, and never goes back', async () => {
  const switches = timesFrom('DEBDEX_TEST_SWITCHES', 4);
  const publication = new BuiltPublication();
  const publish = (number: number) =>
    publication.publish([
      { slug: 'one', packages: packages(...ids.map((id) => ({ Package: id, Description: `state ${number}.` }))) },
    ]);
  await publish(1);
  const origin = await new FileOrigin(publication.folder).open();
  const replica = await startReplicaServer(origin.address, { interval: 20 });
  await replica.until(1);
  const targets = [
    ...ids.map((id) => `/v2/jailbreak/package/${id}`),
    `/${documentPath.repositoryPackages('one')}`,
    '/v2/jailbreak/package/search?q=state',
    `/v2/jailbreak/package/multi?ids=${ids.join(',')}`,
  ];
  let isOver = false;
  let asked = 0;
  const ask = async (offset: number) => {
    let seen = 0;
    for (let turn = offset; !isOver; turn++) {
      const target = targets[turn % targets.length] ?? '';
      const answer = await replica.get(target);
      const states = [...(await answer.text()).matchAll(/state (\d+)\./g)].map(([, number]) => Number(number));
      expect(answer.status, target).toBe(200);
      // One answer is of one generation, and none is older than the one before it.
      expect(new Set(states).size, target).toBe(1);
      expect(states[0], target).toBeGreaterThanOrEqual(seen);
      seen = states[0] ?? 0;
      asked++;
    }
  };
  const clients = [0, 11, 22, 33].map(ask);
  for (let number = 2; number <= switches + 1; number++) {
    await publish(number);
    await Promise.race([replica.until(number), ...clients]);
  }
  isOver = true;
  await Promise.all(clients);
  expect(asked).toBeGreaterThan(switches);
  const told = replica.lines.map(({ event }) => event).filter((event) => event !== 'unhealthy');
  // Each of them was seen in force; of very many in a minute the log leaves lines out.
  expect([...new Set(told)]).toEqual(['generation-taken']);
  await replica.close();
  await origin.close();
}, 600_000);

it('makes a document of the catalog once for as long as that is in force, whichever coding and address it is asked for by', async () => {
  const publication = new BuiltPublication();
  const records = packages({ Package: ids[0] ?? '', Description: 'once. '.repeat(500) });
  await publication.publish([{ slug: 'one', packages: records }]);
  const origin = await new FileOrigin(publication.folder).open();
  onTestFinished(() => origin.close());
  const replica = await startReplicaServer(origin.address, { interval: 20, answerMemory: 0 });
  await replica.until(1);
  const made = vi.spyOn(TakenCatalog.prototype, 'read');
  const file = documentPath.package(ids[0] ?? '');
  const times = () => made.mock.calls.filter(([asked]) => asked === file).length;
  const askForAll = async () => {
    for (const target of [`/${file}`, `/v2/jailbreak/package/${ids[0]}`]) {
      for (const coding of ['identity', 'gzip', 'br', 'gzip']) {
        expect((await replica.get(target, { 'accept-encoding': coding })).status).toBe(200);
      }
    }
  };
  await askForAll();
  expect(times()).toBe(1);
  // Of a generation with other pages alone the catalog is the same.
  writeFileSync(path.join(publication.folder, 'other.html'), 'another page');
  await publication.publish([{ slug: 'one', packages: records }]);
  await replica.until(2);
  await askForAll();
  expect(times()).toBe(1);
});
