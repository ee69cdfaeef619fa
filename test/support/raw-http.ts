import { connect, type Socket } from 'node:net';
import type { Received } from './wire.ts';

/** Opens a connection to a port on loopback. */
export const openSocket = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket));
    socket.once('error', reject);
  });

/** Everything that arrives on a connection until it is closed, as one byte per character. */
export const readToEnd = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });

/** Writes these bytes to a new connection and returns what arrives until it is closed. */
export const exchange = async (port: number, request: string): Promise<string> => {
  const socket = await openSocket(port);
  const answer = readToEnd(socket);
  socket.write(request, 'latin1');
  return answer;
};

const parseRaw = (text: string): Received => {
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...fields] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [field.split(':')[0]?.toLowerCase(), field.slice(field.indexOf(':') + 1).trim()]),
  );
  return { status: Number(line.split(' ')[1]), headers, body: Buffer.from(text.slice(end + 4), 'latin1') };
};

/** As `exchange`, but expects one answer and parses it. */
export const exchangeParsed = async (port: number, request: string): Promise<Received> =>
  parseRaw(await exchange(port, request));
