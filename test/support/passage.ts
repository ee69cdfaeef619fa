import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';

/** A way to a server that can be held up, as by a frozen machine: nothing arrives, nothing breaks. */
export const openPassage = async (target: URL) => {
  let held = false;
  const pairs = new Set<readonly [Socket, Socket]>();
  const apply = () => {
    for (const pair of pairs) for (const socket of pair) held ? socket.pause() : socket.resume();
  };
  const server = createServer((near) => {
    const far = dial(Number(target.port), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('data', (data) => to.write(data));
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
      from.on('error', () => {});
    }
    apply();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hold: (value: boolean) => {
      held = value;
      apply();
    },
    /** Leaves the connections that there are for good: nothing arrives on them any more, and nobody says so. */
    abandon: () => {
      for (const pair of pairs) for (const socket of pair) socket.pause();
      pairs.clear();
    },
    close: () => server.close(),
  };
};
