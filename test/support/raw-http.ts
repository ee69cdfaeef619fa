import { connect, type Socket } from 'node:net';

/** Opens a connection to a port on loopback. */
export const openSocket = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.once('error', reject);
  });

/** Everything that comes on a connection until it is closed, as one byte per character. */
export const readToEnd = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });

/** Writes these bytes on a new connection and returns what comes until it is closed. */
export const exchange = async (port: number, request: string): Promise<string> => {
  const socket = await openSocket(port);
  const answer = readToEnd(socket);
  socket.write(request, 'latin1');
  return answer;
};
