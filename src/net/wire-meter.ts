import type { Socket } from 'node:net';
import { limitNote } from '../contract/limits.ts';
import { NetworkError } from './network-error.ts';

/** For each byte of a body so many more may arrive: a server that sends each by itself frames it with five. */
const framingPerByte = 8;

interface Host {
  readonly sockets: Set<Socket>;
  /** The bytes that arrived on connections that are closed. */
  closed: number;
  requests: number;
  /** The bytes of bodies. */
  accepted: number;
}

/**
 * Compares what arrives from a host with the bodies in it, and ends its connections if that is out of proportion: the
 * chunks of a body may have extensions (RFC 9112, section 7.1.1), which reach nobody and have no limit of their own. By
 * host, because undici does not say which connection a request has.
 */
export class WireMeter {
  readonly #hosts = new Map<string, Host>();
  readonly #framingBytes: number;

  /** `framingBytes`: what may arrive with each answer besides its body, in bytes. */
  constructor(framingBytes: number) {
    this.#framingBytes = framingBytes;
  }

  /** To be called for each new connection to a host, or tunnel to it, before anything is sent. */
  watch(host: string, socket: Socket): void {
    const count = this.#of(host);
    count.sockets.add(socket);
    socket.on('readable', () => {
      if (!this.#isExcessive(count)) return;
      const note = limitNote('framingBytes', this.#framingBytes);
      socket.destroy(new NetworkError('protocol', `${host} sends far more than it answers (${note})`));
    });
    socket.once('close', () => {
      count.sockets.delete(socket);
      count.closed += socket.bytesRead;
    });
  }

  /** A request to the host was sent. */
  request(host: string): void {
    this.#of(host).requests++;
  }

  /** So much of a body was read. */
  accept(host: string, bytes: number): void {
    this.#of(host).accepted += bytes;
  }

  #of(host: string): Host {
    const known = this.#hosts.get(host) ?? { sockets: new Set(), closed: 0, requests: 0, accepted: 0 };
    this.#hosts.set(host, known);
    return known;
  }

  #isExcessive({ sockets, closed, requests, accepted }: Host): boolean {
    let arrived = closed;
    for (const { bytesRead } of sockets) arrived += bytesRead;
    return arrived > (1 + framingPerByte) * accepted + requests * this.#framingBytes;
  }
}
