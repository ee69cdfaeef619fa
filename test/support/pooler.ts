import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy between a server and its database that behaves as PgBouncer does, except that it keeps no connections. */
export interface Pooler {
  /** The address of the database through this proxy. */
  readonly url: string;
  /** How many statements clients have prepared; another connection to the database would not know them. */
  prepared: number;
  /** Whether clients are told that the server is a standby, as it was when the pooler first connected to it. */
  repeatsStandby: boolean;
  /** Whether the next bounds of a transaction are refused, once it has begun. */
  refusesBounds: boolean;
}

// The parameters of a connection that PgBouncer knows, unless its `ignore_startup_parameters` names more.
const known = new Set(['user', 'database', 'client_encoding', 'datestyle', 'timezone', 'application_name']);

const refusal = (name: string) => {
  const fields = `SFATAL\0C08P01\0Munsupported startup parameter: ${name}\0\0`;
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeUInt32BE(4 + Buffer.byteLength(fields), 1);
  return Buffer.concat([head, Buffer.from(fields)]);
};

// The message of PostgreSQL that says so.
const asOfStandby = (data: Buffer) =>
  Buffer.from(
    data.toString('latin1').replace('S\0\0\0\x17in_hot_standby\0off\0', 'S\0\0\0\x16in_hot_standby\0on\0'),
    'latin1',
  );

// A name as long, which PostgreSQL does not know.
const withRefusedBounds = (message: Buffer, pooler: Pooler) => {
  const text = message.toString('latin1');
  if (!text.includes('set local lock_timeout')) return message;
  pooler.refusesBounds = false;
  return Buffer.from(text.replace('set local lock_timeout', 'set local lost_timeout'), 'latin1');
};

/** Opens a pooler that refuses or drops parameters that it does not know. */
export const openPooler = async (url: string, unknown: 'refused' | 'dropped'): Promise<Pooler> => {
  const { hostname, port } = new URL(url);
  const pooler = { url: '', prepared: 0, repeatsStandby: false, refusesBounds: false };
  /** Handles the first message: its length, the version, and names with values, each ended by a NUL. */
  const begin = (message: Buffer, client: Socket, database: Socket) => {
    const words = message.subarray(8, -2).toString().split('\0');
    const pairs = words.flatMap((name, at) => (at % 2 === 0 ? [[name, words[at + 1] ?? ''] as const] : []));
    const other = pairs.find(([name]) => !known.has(name.toLowerCase()));
    if (other && unknown === 'refused') return void client.end(refusal(other[0]));
    const kept = pairs.filter(([name]) => known.has(name.toLowerCase()));
    const text = Buffer.from(`${kept.map((pair) => `${pair.join('\0')}\0`).join('')}\0`);
    const head = Buffer.from(message.subarray(0, 8));
    head.writeUInt32BE(head.length + text.length);
    database.write(Buffer.concat([head, text]));
  };
  const server = createServer((client) => {
    const database = connect(Number(port), hostname);
    for (const socket of [client, database]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        for (const end of [client, database]) end.destroy();
      });
    }
    let waiting = Buffer.alloc(0);
    let begun = false;
    client.on('data', (data) => {
      waiting = Buffer.concat([waiting, data]);
      for (;;) {
        const kind = begun ? 1 : 0;
        const length = waiting.length >= kind + 4 ? kind + waiting.readUInt32BE(kind) : Number.POSITIVE_INFINITY;
        if (waiting.length < length) return;
        const message = waiting.subarray(0, length);
        waiting = waiting.subarray(length);
        if (!begun) begin(message, client, database);
        else {
          // "Parse" of a named statement.
          if (message.toString('latin1', 0, 1) === 'P' && message[5] !== 0) pooler.prepared++;
          database.write(pooler.refusesBounds ? withRefusedBounds(message, pooler) : message);
        }
        begun = true;
      }
    });
    database.on('data', (data) => client.write(pooler.repeatsStandby ? asOfStandby(data) : data));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return Object.assign(pooler, { url: through.href });
};
