import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Forwards bytes to a port on loopback, and cuts each connection, in both directions, after a certain number of them.
 */
export class CuttingProxy {
  cuts = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number, nextBudget: () => number) {
    this.#server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      let budget = nextBudget();
      const cut = () => {
        near.destroy();
        far.destroy();
      };
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', cut);
        from.on('close', () => {
          this.#sockets.delete(from);
          cut();
        });
        from.on('data', (piece: Buffer) => {
          if (budget <= 0) return;
          const part = piece.subarray(0, budget);
          budget -= part.length;
          to.write(part, () => {
            if (budget > 0) return;
            this.cuts++;
            cut();
          });
        });
      }
    });
  }

  /** `nextBudget` returns, for each connection, after how many bytes it is cut. */
  static async start(port: number, nextBudget: () => number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port, nextBudget);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
