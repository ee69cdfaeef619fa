import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { createRounds } from './turns.ts';

/** How long, in milliseconds, a server that closes takes connections that keep arriving. */
const longestArrival = 1000;

/** An open connection, as far as closing it matters. */
interface Closable {
  /** Whether a request of it has arrived and was not given to Node yet. */
  readonly intake: { readonly isWaiting: boolean };
}

interface Closing {
  /** The open connections. */
  readonly doors: ReadonlyMap<Socket, Closable>;
  readonly rounds: ReturnType<typeof createRounds>;
  /** Whether an answer is under way that Node knows nothing of. */
  readonly isAnswering: () => boolean;
  /** How long, in milliseconds, answers in progress have to end. */
  readonly drainTimeout: number;
}

/**
 * Prepares a server for closing, before it listens. The function that is returned takes the connections that the system
 * has made already, accepts no further ones, completes answers in progress, and cuts what is left after the drain
 * timeout.
 */
export const prepareClosing = (
  server: Server,
  { doors, rounds, isAnswering, drainTimeout }: Closing,
): (() => Promise<void>) => {
  let arrived = 0;
  server.on('connection', () => arrived++);

  const closeIdle = server.closeIdleConnections.bind(server);
  let areRequestsRead = false;
  // To Node, connections with direct answers look idle, and so do those whose request it was not given yet. It also calls
  // this when the server begins to close.
  server.closeIdleConnections = () => {
    if (!areRequestsRead || isAnswering()) return;
    for (const { intake } of doors.values()) if (intake.isWaiting) return;
    closeIdle();
  };

  // Connections that the system has made and not handed over yet are reset when the server closes. It hands over one in each
  // round of the event loop, and who is answered meanwhile may come again over a new one.
  const untilNoneArrives = async (): Promise<void> => {
    const end = performance.now() + longestArrival;
    rounds.pause();
    // Ends this round, which may be past its connection.
    await nextRound();
    for (let before = -1; before !== arrived && performance.now() < end; ) {
      before = arrived;
      await nextRound();
    }
  };

  const closeUnused = (): void => {
    areRequestsRead = true;
    // Node counts a connection that has not sent anything yet as busy.
    for (const socket of doors.keys()) if (socket.bytesRead === 0) socket.destroy();
    server.closeIdleConnections();
  };

  return async () => {
    await untilNoneArrives();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    rounds.resume();
    // A connection becomes idle when its answer is complete. The event loop reads what the system has received after the
    // timers and before this.
    const sweep = setInterval(() => setImmediate(closeUnused), 50);
    const cut = setTimeout(() => server.closeAllConnections(), drainTimeout);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  };
};
