import { Hono } from 'hono';
import type { GatewayDeps } from './gateway-deps.ts';
import { createProtocol } from './protocol.ts';
import { credentialRoutes } from './routes/credentials.ts';
import { devicesRoutes } from './routes/devices.ts';
import { loginRoutes } from './routes/login.ts';

/**
 * The payment gateway as an application to mount at the API's root (`app.route('/v2', createGateway(deps))`): the
 * operations of the protocol, `/account`, `/introspect`, the login page with its OpenID Connect detour, and the devices
 * page. It answers only its own paths.
 */
export const createGateway = (deps: GatewayDeps): Hono => {
  const { settings, store, cryptography } = deps;
  const protocol = createProtocol({ ...settings, store, cryptography });
  return new Hono()
    .route('/', credentialRoutes(deps, protocol))
    .route('/', loginRoutes(deps, protocol))
    .route('/', devicesRoutes(deps));
};
