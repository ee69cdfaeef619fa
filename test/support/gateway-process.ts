import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { readGatewayConfiguration } from '../../functions/gateway/configuration.ts';
import { openGateway } from '../../functions/gateway/open-gateway.ts';
import { weakCost } from './gateway.ts';

// One server process of a gateway, for tests with several of them or that kill one. Its parent sends the milliseconds
// that its clock is ahead; it answers with the port at the start and with an empty object to each message.
let ahead = 0;
const gateway = openGateway(readGatewayConfiguration(process.env), {
  write: () => {},
  clock: () => Date.now() + ahead,
  passwordCost: weakCost,
});
const app = new Hono().route('/v2', gateway.routes);
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => process.send?.({ port }));
process.on('message', (message: { ahead: number }) => {
  ahead = message.ahead;
  process.send?.({});
});
process.on('disconnect', () => process.exit());
process.once('SIGTERM', () => {
  server.close(async () => {
    await gateway.close();
    process.exit();
  });
  'closeIdleConnections' in server && server.closeIdleConnections();
});
