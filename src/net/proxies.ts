import { isIP } from 'node:net';
import { Agent, type buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { patience } from './guarded-connector.ts';
import { NetworkError, toNetworkError } from './network-error.ts';
import type { AddressRule } from './public-address.ts';

/** The proxies that requests go through, by scheme of what is asked for, and the hosts that are asked directly. */
export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
  /** As curl takes NO_PROXY: host names, with a dot before them or not, addresses, `*`; a comma between two. */
  readonly except: string | undefined;
}

const readProxy = (environment: NodeJS.ProcessEnv, name: string): string | undefined => {
  const text = environment[name.toLowerCase()] ?? environment[name];
  if (text === undefined || text === '') return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new RangeError(`${name} must be the address of a proxy such as http://proxy.example.org:3128`);
  }
  return text;
};

/**
 * The proxies that the environment names in HTTP_PROXY, HTTPS_PROXY and NO_PROXY (also in lower case, which goes
 * first); undefined where it names none. Throws `RangeError` for an address that cannot be one.
 */
export const readProxies = (environment: NodeJS.ProcessEnv): Proxies | undefined => {
  const [http, https] = [readProxy(environment, 'HTTP_PROXY'), readProxy(environment, 'HTTPS_PROXY')];
  if (http === undefined && https === undefined) return undefined;
  return { http, https, except: environment.no_proxy ?? environment.NO_PROXY };
};

type AgentOptions = Agent.Options & { connect: buildConnector.connector };

/** Opens connections to a proxy. One that cannot be reached is our own trouble: no origin has to answer for it. */
const openProxy = (proxy: URL, options: Pool.Options, connect: buildConnector.connector): Pool =>
  new Pool(proxy.origin, {
    ...options,
    connect: (target, callback) =>
      connect(target, (...[error, socket]) => {
        if (error === null) return callback(null, socket);
        const words = `the proxy ${proxy.host} cannot be reached (${toNetworkError(error, false, proxy.host).message})`;
        callback(new NetworkError('no-network', words, { cause: error, transient: true }), null);
      }),
  });

/** Makes the dispatcher of a fetcher: direct, or through proxies, which the guard of `connect` does not apply to. */
export const createDispatcher = (
  options: AgentOptions,
  proxies: Proxies | undefined,
  tls: { readonly timeout: number; readonly ca?: string },
): Dispatcher => {
  if (proxies === undefined) return new Agent(options);
  const { http = '', https = http, except = '' } = proxies;
  return new EnvHttpProxyAgent({
    ...options,
    clientFactory: (proxy, { connect }: { connect?: unknown }) =>
      openProxy(proxy, {}, connect as buildConnector.connector),
    // Where no tunnel is needed the proxy is asked itself, which is told from an origin by how its address ends.
    factory: (origin, given: Pool.Options) =>
      http !== '' && String(origin) === new URL(http).href
        ? openProxy(new URL(http), options, given.connect as buildConnector.connector)
        : new Pool(origin, given),
    // Empty, and not undefined, which would be looked up in the environment of the process.
    ...{ httpProxy: http, httpsProxy: https, noProxy: except },
    requestTls: tls,
    proxyTls: { ...tls, ...patience(tls.timeout) },
  });
};

/**
 * Refuses, before a proxy is asked, a host that says of itself that it is not public: a proxy resolves names by itself,
 * so that what a name leads to is its to refuse. Throws `NetworkError` `address-refused`.
 */
export const assertNameable = ({ hostname }: URL, isAllowed: AddressRule): void => {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  // RFC 6761, section 6.3: this name, and all below it, are loopback.
  const address = /^(?:.+\.)?localhost$/i.test(host) ? '127.0.0.1' : host;
  if (isIP(address) !== 0 && !isAllowed(address, host)) {
    throw new NetworkError('address-refused', `${hostname} is not an address of the public Internet`);
  }
};
