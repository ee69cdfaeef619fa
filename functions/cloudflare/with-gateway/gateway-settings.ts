import { shortestKey } from '../../http/operator-key.ts';
import { type Environment, operatorKeyOf } from '../settings.ts';

/** The additional bindings of a Worker with a gateway, wherever its store is; see deploy/cloudflare/README.md. */
export interface GatewayEnvironment extends Environment {
  /** Where clients reach the Worker, without a path: sign-ins lead there. */
  readonly PUBLIC_ADDRESS: string;
}

/** What the gateway needs to open. */
interface Opening {
  readonly environment: Readonly<Record<string, string>>;
  readonly publicAddress: string;
  readonly operatorKey: string | undefined;
  readonly tell: (told: object) => void;
}

/** Reads the bindings. Throws a TypeError whose message says what to write. */
export const readGatewaySettings = (bound: GatewayEnvironment): Opening => {
  const { PUBLIC_ADDRESS } = bound;
  const operatorKey = operatorKeyOf(bound);
  const address = URL.parse(PUBLIC_ADDRESS ?? '');
  if (address === null || !/^https?:$/.test(address.protocol) || address.pathname !== '/' || address.search !== '') {
    throw new TypeError(`PUBLIC_ADDRESS must be where clients reach the Worker, such as https://index.example.org`);
  }
  if (operatorKey !== undefined && operatorKey.length < shortestKey) {
    throw new TypeError(`OPERATOR_KEY must have at least ${shortestKey} characters`);
  }
  // A variable may be any JSON value, and a secret may end with a line break. Other bindings are no settings.
  const said = Object.entries(bound).filter(([, value]) => /^(?:string|number|boolean)$/.test(typeof value));
  return {
    environment: Object.fromEntries(said.map(([name, value]) => [name, String(value).trim()])),
    publicAddress: address.origin,
    operatorKey,
    tell: (told) => console.log(JSON.stringify(told)),
  };
};
