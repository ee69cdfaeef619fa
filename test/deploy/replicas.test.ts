import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { BuiltPublication, FileOrigin } from '../support/built-publication.ts';
import { packages } from '../support/catalog.ts';
import { placed, recipe, type ServerProcess, startServerProcess } from '../support/deployed.ts';
import { findProgram } from '../support/find-program.ts';
import { temporaryFolder } from '../support/folder.ts';
import { freePort, runCaddy } from '../support/host-programs.ts';
import { patience } from '../support/patience.ts';

const lookup = '/v2/jailbreak/package/com.example.one';

// A replica that is told to stop closes its door at once, and its connections as they become idle; the balancer has to ask
// the other one for what it was about to ask this one.
it.skipIf(findProgram('caddy') === undefined)(
  'H2: replicas behind the balancer are replaced one after the other, and one of them killed, without a lost request',
  async () => {
    const publication = new BuiltPublication();
    await publication.publish([{ slug: 'one', packages: packages({ Package: 'com.example.one' }) }]);
    const origin = await new FileOrigin(publication.folder).open();
    onTestFinished(() => origin.close());
    const places = [await freePort(), await freePort()].map((port) => ({ port, state: temporaryFolder() }));
    const startReplica = async ({ port, state }: (typeof places)[number]): Promise<ServerProcess> => {
      const flags = ['--from', origin.address, '--state', state, '--port', String(port), '--trusted-proxies', '1'];
      const replica = await startServerProcess(flags);
      await expect.poll(async () => (await fetch(`${replica.address}/v2/readyz`)).status, patience).toBe(200);
      return replica;
    };
    const replicas = await Promise.all(places.map(startReplica));
    const port = await freePort();
    const balancer = await runCaddy(recipe('caddy/replicas.caddy'), port, temporaryFolder(), {
      DEBDEX_SITE: `http://127.0.0.1:${port}`,
      DEBDEX_REPLICAS: places.map((place) => `127.0.0.1:${place.port}`).join(' '),
      DEBDEX_HEALTH_INTERVAL: '100ms',
    });
    onTestFinished(() => balancer.close());

    const statuses = new Map<number | string, number>();
    let loaded = true;
    const read = async () => {
      while (loaded) {
        // Leaves most of the processor to the replicas.
        await sleep(5);
        const status = await fetch(balancer.address + lookup).then(
          async (answer) => (await answer.text()).includes('com.example.one') && answer.status,
          (error) => String(error.cause ?? error),
        );
        statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
      }
    };
    const readers = Array.from({ length: 4 }, read);
    const isAnsweredSince = async (before: number) =>
      expect.poll(() => statuses.get('200') ?? 0, patience).toBeGreaterThan(before + 50);

    await isAnsweredSince(0);
    for (const [index, place] of places.entries()) {
      expect(await replicas[index]?.stop()).toBe(0);
      await isAnsweredSince(statuses.get('200') ?? 0);
      replicas[index] = await startReplica(place);
      await isAnsweredSince(statuses.get('200') ?? 0);
    }
    await replicas[0]?.stop('SIGKILL');
    await isAnsweredSince(statuses.get('200') ?? 0);
    loaded = false;
    await Promise.all(readers);
    expect([...statuses.keys()]).toEqual(['200']);
  },
  180_000,
);

it.skipIf(findProgram('caddy') === undefined)(
  'H2: the balancer says when to come again where no replica answers, and of no other error',
  async () => {
    const port = await freePort();
    // What an operator adds may refuse as well.
    const added = { 'lb_try_duration 10s': 'lb_try_duration 0', handle_errors: 'error /mine 401\n\thandle_errors' };
    const balancer = await runCaddy(placed(recipe('caddy/replicas.caddy'), added), port, temporaryFolder(), {
      DEBDEX_SITE: `http://127.0.0.1:${port}`,
      DEBDEX_REPLICAS: `127.0.0.1:${await freePort()}`,
    });
    onTestFinished(() => balancer.close());
    const answer = await fetch(balancer.address + lookup);
    const told = ['content-type', 'retry-after', 'access-control-allow-origin'].map((name) => answer.headers.get(name));
    expect([answer.status, ...told]).toEqual([503, 'application/json', '5', '*']);
    expect(await answer.json()).toMatchObject({
      message: '503 Service Unavailable',
      date: expect.stringMatching(/Z$/),
    });
    const { status, headers } = await fetch(`${balancer.address}/mine`);
    expect([status, headers.get('retry-after')]).toEqual([401, null]);
  },
);

it.skipIf(findProgram('caddy') === undefined)(
  'T11: the balancer tells replicas of every proxy in front of it, the last one last',
  async () => {
    const replica = createServer((request, response) => response.end(request.headers['x-forwarded-for']));
    await once(replica.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void replica.close());
    const port = await freePort();
    const balancer = await runCaddy(recipe('caddy/replicas.caddy'), port, temporaryFolder(), {
      DEBDEX_SITE: `http://127.0.0.1:${port}`,
      DEBDEX_REPLICAS: `127.0.0.1:${(replica.address() as AddressInfo).port}`,
    });
    onTestFinished(() => balancer.close());
    const answer = await fetch(balancer.address + lookup, { headers: { 'X-Forwarded-For': '192.0.2.1, 203.0.113.7' } });
    expect(await answer.text()).toBe('192.0.2.1, 203.0.113.7, 127.0.0.1');
  },
);

it.skipIf(findProgram('caddy') === undefined)(
  'the balancer says when to come again where a replica stands still that was asked',
  async () => {
    const replica = createServer(() => {});
    await once(replica.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => replica.closeAllConnections());
    onTestFinished(() => void replica.close());
    const port = await freePort();
    const sooner = { 'response_header_timeout 30s': 'response_header_timeout 100ms', 'lb_try_duration 10s': '' };
    const balancer = await runCaddy(placed(recipe('caddy/replicas.caddy'), sooner), port, temporaryFolder(), {
      DEBDEX_SITE: `http://127.0.0.1:${port}`,
      DEBDEX_REPLICAS: `127.0.0.1:${(replica.address() as AddressInfo).port}`,
    });
    onTestFinished(() => balancer.close());
    const answer = await fetch(balancer.address + lookup);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  },
);

// As over the catalog of another version, until a build has made one of this.
it.skipIf(findProgram('caddy') === undefined)(
  'the balancer of the containers goes on asking the only server there is, where not everything works there',
  async () => {
    let checks = 0;
    const server = createServer(({ url, headers }, response) => {
      if (headers['user-agent']?.startsWith('Go-http-client')) checks += 1;
      response.writeHead(url === '/v2/readyz' ? 503 : 200).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const port = await freePort();
    const { services } = parse(recipe('compose.yaml'), { merge: true });
    const balancer = await runCaddy(
      placed(recipe('caddy/replicas.caddy'), { 'lb_try_duration 10s': '' }),
      port,
      temporaryFolder(),
      {
        ...services.caddy.environment,
        DEBDEX_SITE: `http://127.0.0.1:${port}`,
        DEBDEX_REPLICAS: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        DEBDEX_HEALTH_INTERVAL: '100ms',
      },
    );
    onTestFinished(() => balancer.close());
    // The second begins when what the first told is known.
    await expect.poll(() => checks, patience).toBeGreaterThan(1);
    expect((await fetch(balancer.address + lookup)).status).toBe(200);
  },
);
