import type { Context, Hono } from 'hono';
import type { GatewayConfiguration } from '../configuration.ts';
import { createGateway } from '../gateway.ts';
import type { GatewaySettings } from '../gateway-deps.ts';
import { createOpenIdClient } from '../openid.ts';
import type { ScryptCost } from '../passwords.ts';
import { probeStore } from '../probe-store.ts';
import { createSecurityLog, type SecurityLog, type ToldEvent } from '../security-log.ts';
import { describeSilently } from '../silent-cause.ts';
import type { CredentialStore } from '../store/credential-store.ts';
import { openCredentialStore } from '../store/open-store.ts';
import { openAuditFile } from './audit-file.ts';
import { createNodeCryptography } from './node-cryptography.ts';
import { createNodePasswords } from './node-passwords.ts';

/** A gateway on a Node host. */
export interface OpenGateway {
  /** To mount at the API's root: `app.route('/v2', gateway.routes)`. */
  readonly routes: Hono;
  /** The same over the same store, with other settings such as another public address. */
  routesWith(settings: GatewaySettings): Hono;
  readonly store: CredentialStore;
  /** Whether the credential store reads and writes at the moment; see probeStore. */
  probe(): Promise<true>;
  /** Stops sweeping and closes the store. To be called when no request is in progress. */
  close(): Promise<void>;
}

const sweepInterval = 10 * 60_000;
const sweepPause = 50;

/**
 * Opens the gateway with these settings. The store opens when it is first used, and until then the gateway answers 503.
 * The server passes the client's address to the routes as the binding `clientAddress`. `tell` receives the events of
 * the security log. `clock`, `passwordCost` and a `store` in place of the configured one are for tests.
 */
export const openGateway = (
  configuration: GatewayConfiguration,
  options: {
    readonly tell: (told: ToldEvent) => void;
    readonly clock?: () => number;
    readonly passwordCost?: ScryptCost;
    readonly store?: CredentialStore | undefined;
  },
): OpenGateway => {
  const { tell, clock = Date.now } = options;
  const cryptography = createNodeCryptography();
  const store = options.store ?? openCredentialStore(configuration.store, cryptography, { clock: options.clock });
  const audit = openAuditFile(configuration.auditFile);
  const unwritten = new Set<Promise<void>>();
  const log: SecurityLog = createSecurityLog(
    {
      tell,
      // The operation has succeeded. A full disk must not prevent sign-ins, but it should be reported.
      audit: (line) => {
        const written = audit
          .write(line)
          .catch((error) => {
            const reason = `the audit log cannot be written: ${describeSilently(error)}`;
            log({ event: 'failure', reason });
          })
          .finally(() => unwritten.delete(written));
        unwritten.add(written);
      },
    },
    clock,
  );
  const deps = {
    store,
    cryptography,
    passwords: createNodePasswords(configuration.passwordChecks, options.passwordCost),
    clock,
    log,
    clientAddress,
    openId: configuration.openId && createOpenIdClient(configuration.openId, clock),
  };
  const routesWith = (settings: GatewaySettings) => createGateway({ ...deps, settings });
  // In portions with pauses, so that waiting requests get their turn at the store.
  const sweep = async () => {
    const { more } = await store.sweep().catch(() => ({ more: false }));
    schedule(more ? sweepPause : sweepInterval);
  };
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const schedule = (delay: number) => {
    if (!closed) timer = setTimeout(sweep, delay).unref();
  };
  schedule(sweepInterval);
  return {
    routes: routesWith(configuration.settings),
    routesWith,
    store,
    probe: () => probeStore(store),
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await Promise.all(unwritten);
      await store.close();
    },
  };
};

// The server passes it with each request, because only the server knows which proxies are its own.
const clientAddress = ({ env }: Context<{ Bindings: { clientAddress?: string } }>) => env.clientAddress ?? 'unknown';
