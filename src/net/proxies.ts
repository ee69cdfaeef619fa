import { isIP, type Socket } from 'node:net';
import { Agent, type buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { patience } from './guarded-connector.ts';
import { NetworkError, toNetworkError } from './network-error.ts';
import type { AddressRule } from './public-address.ts';

/** The proxies for requests, by scheme of the requested address, and the hosts that are contacted directly. */
export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
  /** In curl's form of NO_PROXY: host names, with or without a leading dot, addresses, or `*`, separated by commas. */
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
 * The proxies that the environment names in HTTP_PROXY, HTTPS_PROXY and NO_PROXY (lower case takes precedence);
 * undefined if it names none. Throws `RangeError` for an invalid address.
 */
export const readProxies = (environment: NodeJS.ProcessEnv): Proxies | undefined => {
  const [http, https] = [readProxy(environment, 'HTTP_PROXY'), readProxy(environment, 'HTTPS_PROXY')];
  if (http === undefined && https === undefined) return undefined;
  return { http, https, except: environment.no_proxy ?? environment.NO_PROXY };
};

type AgentOptions = Agent.Options & { connect: buildConnector.connector };

/** Opens connections to a proxy. If it cannot be reached, the fault is ours, not the origin's. */
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

/** Called for each connection to an origin, or tunnel to it, before it is used, with its host as in a URL. */
type OnConnected = (host: string, socket: Socket) => void;

const openOrigin = (origin: URL, options: Pool.Options, onConnected: OnConnected | undefined): Pool => {
  const connect = options.connect as buildConnector.connector;
  return new Pool(origin, {
    ...options,
    connect: (target, callback) =>
      connect(target, (...result) => {
        const [error, socket] = result;
        if (error === null) onConnected?.(origin.host, socket);
        callback(...result);
      }),
  });
};

/** Makes the dispatcher of a fetcher: direct, or through proxies, for which the guard of `connect` does not apply. */
export const createDispatcher = (
  options: AgentOptions,
  proxies: Proxies | undefined,
  tls: { readonly timeout: number; readonly ca?: string },
  onConnected?: OnConnected,
): Dispatcher => {
  const open = (origin: string | URL, given: object) => openOrigin(new URL(origin), given, onConnected);
  if (proxies === undefined) return new Agent({ ...options, factory: open });
  const { http = '', https = http, except = '' } = proxies;
  return new EnvHttpProxyAgent({
    ...options,
    clientFactory: (proxy, { connect }: { connect?: unknown }) =>
      openProxy(proxy, {}, connect as buildConnector.connector),
    // Without a tunnel the request goes to the proxy itself; the form of its address distinguishes it from an origin.
    // Chunks end at the proxy then (RFC 9112, section 7.1), so such connections are not watched.
    factory: (origin, given: Pool.Options) =>
      http !== '' && String(origin) === new URL(http).href
        ? openProxy(new URL(http), options, given.connect as buildConnector.connector)
        : open(origin, given),
    // Empty rather than undefined: undici would look that up in the environment of the process.
    ...{ httpProxy: http, httpsProxy: https, noProxy: except },
    requestTls: tls,
    proxyTls: { ...tls, ...patience(tls.timeout) },
  });
};

/**
 * Refuses, before a proxy is asked, a host that is private by its own name or address. A proxy resolves names itself,
 * so it has to refuse what a name leads to. Throws `NetworkError` `address-refused`.
 */
export const assertNameable = ({ hostname }: URL, isAllowed: AddressRule): void => {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  // RFC 6761, section 6.3: this name and all names below it are loopback.
  const address = /^(?:.+\.)?localhost$/i.test(host) ? '127.0.0.1' : host;
  if (isIP(address) !== 0 && !isAllowed(address, host)) {
    throw new NetworkError('address-refused', `${hostname} is not an address of the public Internet`);
  }
};
