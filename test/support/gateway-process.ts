import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { openGateway } from '../../functions/gateway/node/open-gateway.ts';
import { listen, readTestConfiguration, testedObject, weakCost } from './gateway-session.ts';

// One server process of gateways, for tests with several of them or that kill one. Its parent sends the milliseconds
// that its clock is ahead; it answers with the ports at the start and with an empty object to each message.
let ahead = 0;
const open = async (surroundings: NodeJS.ProcessEnv): Promise<number> => {
  const gateway = openGateway(readTestConfiguration(surroundings), {
    tell: () => {},
    clock: () => Date.now() + ahead,
    passwordCost: weakCost,
    store: testedObject(surroundings, () => Date.now() + ahead),
  });
  const server = listen(new Hono().route('/v2', gateway.routes).fetch);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const { TESTED_GATEWAYS: gateways, ...environment } = process.env;
const surroundings: readonly Record<string, string>[] = gateways === undefined ? [{}] : JSON.parse(gateways);
Promise.all(surroundings.map((one) => open({ ...environment, ...one }))).then((ports) => process.send?.({ ports }));
process.on('message', (message: { ahead: number }) => {
  ahead = message.ahead;
  process.send?.({});
});
process.on('disconnect', () => process.exit());
// It is killed, before Node would keep for the next one what was compiled.
flushCompileCache();
