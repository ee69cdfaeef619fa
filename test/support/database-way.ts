import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * When a batch of counts stops on its way to the database: before it is committed, or before the server hears of the
 * commit.
 */
type Halt = 'before the commit' | 'after the commit';

/** A proxy between a server and its database of counters. */
export interface DatabaseWay {
  /** The address of the database through this proxy. */
  readonly url: string;
  readonly state: {
    isOpen: boolean;
    /** How many further answers to a commit are lost, together with their connections. */
    losesCommits: number;
    /** How many connections were refused. */
    refused: number;
  };
  /** Closes all connections and refuses new ones. */
  cut(): void;
  /** Stops a batch of counts at this moment, after this many others. Resolves when it has stopped. */
  halt(at: Halt, after: number): Promise<void>;
  /** Stops no further batches. */
  pass(): void;
}

/** Opens a proxy to this database. It can forward everything, refuse everything, or lose the answer to a commit. */
export const openWay = async (url: string): Promise<DatabaseWay> => {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const state = { isOpen: true, losesCommits: 0, refused: 0 };
  let halting: { at: Halt; left: number; reached: () => void } | undefined;
  const way = createServer((client) => {
    if (!state.isOpen) {
      state.refused++;
      return void client.destroy();
    }
    const database = connect(Number(port), hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        for (const end of [client, database]) end.destroy();
        sockets.delete(socket);
      });
    }
    let isCommitting = false;
    let isBatch = false;
    client.on('data', (data) => {
      isBatch ||= data.includes('INSERT INTO downloads_sender');
      isCommitting ||= data.includes('COMMIT\0');
      if (isBatch && isCommitting && halting?.at === 'before the commit' && halting.left === 0) {
        // After a disconnect the database rolls back what is not committed, and the sender gets no answer.
        database.removeAllListeners('close').destroy();
        return halting.reached();
      }
      database.write(data);
    });
    database.on('data', (data) => {
      if (isCommitting && isBatch && halting !== undefined) {
        if (halting.at === 'after the commit' && halting.left === 0) return halting.reached();
        halting.left--;
      }
      if (isCommitting && state.losesCommits > 0) {
        state.losesCommits--;
        return void client.destroy();
      }
      if (isCommitting) isBatch = false;
      isCommitting = false;
      client.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(way, 'listening');
  onTestFinished(() => void way.close());
  const through = new URL(url);
  through.port = String((way.address() as AddressInfo).port);
  return {
    url: through.href,
    state,
    cut: () => {
      state.isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
    halt: (at, after) =>
      new Promise((resolve) => {
        halting = { at, left: after, reached: resolve };
      }),
    pass: () => {
      halting = undefined;
    },
  };
};
