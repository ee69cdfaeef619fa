import { expect, it } from 'vitest';
import { documentPath } from '../../src/contract/paths.ts';
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
