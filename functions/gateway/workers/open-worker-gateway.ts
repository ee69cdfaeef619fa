import type { Context, Hono } from 'hono';
import { readGatewayConfiguration } from '../configuration.ts';
import { createGateway } from '../gateway.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { createNodeCryptography } from '../node/node-cryptography.ts';
import { createNodePasswords } from '../node/node-passwords.ts';
import { createOpenIdClient, type OpenIdClient, type OpenIdSettings } from '../openid.ts';
import { type ScryptCost, smallCost } from '../passwords.ts';
import { createSecurityLog, type ToldEvent } from '../security-log.ts';
import type { CredentialStore } from '../store/credential-store.ts';
import { createOperator } from './operator.ts';

/** A gateway with everything of a Worker's that it needs. */
interface WorkerGateway {
  /** To mount at the API's root. */
  readonly routes: Hono;
  /** Answers an operator's command, which comes with the key; there is none without a key. */
  readonly operate: ((request: Request, clientAddress: string) => Promise<Response>) | undefined;
}

/**
 * Opens the gateway of a Worker for its variables, of which those are read that the gateway has on Node, but for where its
 * store is. `tell` takes the events of the security log, those of the audit among them. `passwordCost` is for tests.
 * Throws ConfigurationInvalid.
 */
export const openWorkerGateway = (options: {
  readonly environment: Readonly<Record<string, string>>;
  readonly publicAddress: string;
  readonly operatorKey: string | undefined;
  readonly store: CredentialStore;
  readonly tell: (told: ToldEvent) => void;
  /** Is handed what goes on after the answer to a request, which ends there otherwise. */
  readonly finish: (work: Promise<unknown>) => void;
  readonly passwordCost?: ScryptCost;
}): WorkerGateway => {
  const { environment, publicAddress, operatorKey, store, tell, finish } = options;
  const configuration = readGatewayConfiguration(environment, { publicAddress, state: '' });
  const cryptography = createNodeCryptography();
  const clock = () => Date.now();
  const log = createSecurityLog({ tell, audit: () => {} }, clock);
  const deps: GatewayDeps = {
    settings: configuration.settings,
    store,
    cryptography,
    // An isolate has one processor and 128 MiB.
    passwords: createNodePasswords(1, options.passwordCost ?? smallCost),
    clock,
    log,
    clientAddress,
    openId: configuration.openId && openIdOfEachRequest(configuration.openId, clock),
    countsSignIns: true,
  };
  const operate =
    operatorKey === undefined ? undefined : createOperator({ store, cryptography, log, operatorKey, finish });
  return { routes: createGateway(deps), operate };
};

/**
 * The provider, discovered for each request anew: a request that ends takes with it what it waits for, and another that
 * waited for the same would wait for ever.
 */
const openIdOfEachRequest = (settings: OpenIdSettings, clock: () => number): OpenIdClient => ({
  label: createOpenIdClient(settings, clock).label,
  start: (redirectUri) => createOpenIdClient(settings, clock).start(redirectUri),
  finish: (returned, attempt) => createOpenIdClient(settings, clock).finish(returned, attempt),
});

const clientAddress = ({ env }: Context<{ Bindings: { clientAddress?: string } }>) => env.clientAddress || 'unknown';
