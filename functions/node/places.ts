import type { Socket } from 'node:net';
import { clientNetworks } from '../http/client-address.ts';
import type { ServerLimits } from './limits.ts';
import type { RefusingLimit } from './met-limits.ts';

/** The place of an open connection. */
export interface Place {
  /** A request is in progress on it, so it is not closed to make room for another connection. */
  beginRequest(): void;
  endRequest(): void;
}

/** The places of all open connections. */
export interface Places {
  /** A place for a new connection of this client (an address or network); undefined if there is none. */
  take(socket: Socket, client: string): Place | undefined;
}

/** The connections of one client or of one site. */
interface Holder {
  readonly sockets: Set<Socket>;
  /** The connections without a request, those that have been idle for longest first. */
  readonly idle: Set<Socket>;
}

const holderOf = (holders: Map<string, Holder>, name: string): Holder => {
  const known = holders.get(name);
  if (known !== undefined) return known;
  const holder = { sockets: new Set<Socket>(), idle: new Set<Socket>() };
  holders.set(name, holder);
  return holder;
};

/**
 * Keeps the numbers of connections within their limits. If a new one would be too many, the connection that has been
 * idle for longest is closed: one of the same client, or, if the limit for all is reached, one of whoever has the most.
 * If none is idle, the new one is refused.
 *
 * Connections from proxies of our own (`areProxied`) are only limited in total, because a proxy acts for many people.
 */
export const createPlaces = (
  limits: ServerLimits,
  { areProxied, count }: { areProxied: boolean; count: (limit: RefusingLimit, client?: string) => void },
): Places => {
  const clients = new Map<string, Holder>();
  const sites = new Map<string, Holder>();
  const vacate = new WeakMap<Socket, () => void>();
  let total = 0;

  // Closes an idle connection; returns whether there was one. Its place is freed here, not only when the socket has
  // been closed.
  const closeIdle = (holder: Holder): boolean => {
    const [longest] = holder.idle;
    if (longest === undefined) return false;
    vacate.get(longest)?.();
    longest.destroy();
    return true;
  };

  const findLargest = (): Holder | undefined => {
    let largest: Holder | undefined;
    for (const holder of clients.values()) {
      if (holder.idle.size > 0 && holder.sockets.size > (largest?.sockets.size ?? 0)) largest = holder;
    }
    return largest;
  };

  const makeRoomWithin = (limit: 'clientConnections' | 'siteConnections', name: string, holder: Holder): boolean => {
    if (areProxied || holder.sockets.size < limits[limit]) return true;
    count(limit, name);
    return closeIdle(holder);
  };

  const makeRoom = (): boolean => {
    if (total < limits.connections) return true;
    count('connections');
    const largest = findLargest();
    return largest !== undefined && closeIdle(largest);
  };

  return {
    take: (socket, client) => {
      const [, , site] = clientNetworks(client);
      const own = holderOf(clients, client);
      const neighbours = site === undefined ? undefined : holderOf(sites, site);
      const holders = neighbours === undefined ? [own] : [own, neighbours];
      const forget = (): void => {
        if (own.sockets.size === 0) clients.delete(client);
        if (site !== undefined && neighbours?.sockets.size === 0) sites.delete(site);
      };
      const isRoom =
        makeRoomWithin('clientConnections', client, own) &&
        (neighbours === undefined || makeRoomWithin('siteConnections', site ?? '', neighbours)) &&
        makeRoom();
      if (!isRoom) {
        forget();
        return undefined;
      }
      // Closing an idle connection may have removed the entry of this client or site, because it was empty.
      clients.set(client, own);
      if (site !== undefined && neighbours !== undefined) sites.set(site, neighbours);
      total++;
      for (const { sockets, idle } of holders) {
        sockets.add(socket);
        idle.add(socket);
      }
      let isTaken = true;
      const give = (): void => {
        if (!isTaken) return;
        isTaken = false;
        total--;
        for (const { sockets, idle } of holders) {
          sockets.delete(socket);
          idle.delete(socket);
        }
        forget();
      };
      vacate.set(socket, give);
      socket.once('close', give);
      return {
        beginRequest: () => {
          for (const { idle } of holders) idle.delete(socket);
        },
        endRequest: () => {
          if (isTaken) for (const { idle } of holders) idle.add(socket);
        },
      };
    },
  };
};
