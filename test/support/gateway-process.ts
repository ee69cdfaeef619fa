import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { openGateway } from '../../functions/gateway/node/open-gateway.ts';
import { listen, readTestConfiguration, testedObject, weakCost } from './gateway-session.ts';

// One server process of a gateway, for tests with several of them or that kill one. Its parent sends the milliseconds
// that its clock is ahead; it answers with the port at the start and with an empty object to each message.
let ahead = 0;
const gateway = openGateway(readTestConfiguration(process.env), {
  tell: () => {},
  clock: () => Date.now() + ahead,
  passwordCost: weakCost,
  store: testedObject(process.env, () => Date.now() + ahead),
});
const app = new Hono().route('/v2', gateway.routes);
const server = listen(app.fetch);
server.once('listening', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message: { ahead: number }) => {
  ahead = message.ahead;
  process.send?.({});
});
process.on('disconnect', () => process.exit());
// It is killed, before Node would keep for the next one what was compiled.
flushCompileCache();
