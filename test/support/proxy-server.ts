import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** A proxy on loopback for http and, by CONNECT, for https. */
export interface ProxyServer {
  readonly address: string;
  /** The requests: addresses, and `CONNECT host:port`. */
  readonly asked: string[];
  close(): void;
}

/** Starts a proxy that connects every host name to loopback, at the port that `portOf` returns for it. */
export const startProxy = async (portOf: (host: string) => number): Promise<ProxyServer> => {
  const asked: string[] = [];
  const proxy = createServer((incoming, response) => {
    asked.push(incoming.url ?? '');
    const { pathname, hostname } = new URL(incoming.url ?? '');
    const options = { host: '127.0.0.1', port: portOf(hostname), path: pathname, headers: incoming.headers };
    httpRequest(options, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers))).end();
  });
  proxy.on('connect', (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    const tunnel = connect(portOf(incoming.url?.split(':')[0] ?? ''), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(tunnel).pipe(socket);
    });
    tunnel.on('error', () => socket.destroy());
    socket.on('error', () => tunnel.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    asked,
    close: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
};
