import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { openGateway } from '../../functions/gateway/node/open-gateway.ts';
import { listen, readTestConfiguration, testedObject, weakCost } from './gateway-session.ts';

// A server process with one or more gateways, for tests that need several of them or that kill one. Its parent sends
// how many milliseconds its clock is ahead. It reports its ports at the start, and answers each message with an empty
// object.
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
// It is going to be killed, and then Node would not write its compile cache for the next process.
flushCompileCache();
