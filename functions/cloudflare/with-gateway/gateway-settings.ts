import { type Environment, operatorKeyOf } from '../settings.ts';

/** What the configuration of a Worker with a gateway binds besides, whatever keeps its store; see deploy/cloudflare/README.md. */
export interface GatewayEnvironment extends Environment {
  /** Where clients reach the Worker, without a path: sign-ins lead there. */
  readonly PUBLIC_ADDRESS: string;
}

/** What a gateway is opened with, as the gateway has it. */
interface Opening {
  readonly environment: Readonly<Record<string, string>>;
  readonly publicAddress: string;
  readonly operatorKey: string | undefined;
  readonly tell: (told: object) => void;
}

const shortestKey = 32;

/** Reads it. Throws a TypeError whose message says what to write. */
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
  // A variable may be any JSON, and a secret ends as the file that it was put from; what else is bound is no setting.
  const said = Object.entries(bound).filter(([, value]) => /^(?:string|number|boolean)$/.test(typeof value));
  return {
    environment: Object.fromEntries(said.map(([name, value]) => [name, String(value).trim()])),
    publicAddress: address.origin,
    operatorKey,
    tell: (told) => console.log(JSON.stringify(told)),
  };
};
