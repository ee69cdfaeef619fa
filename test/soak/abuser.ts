import type { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { type AbuseCounts, abuses, type Target } from './abuses.ts';

// A process that abuses a server until its parent is gone. Unless it is told to push in, it has the processor only when
// nobody else wants it: real abusers use processors of their own, and what is looked for is what they do to the server.
if (!process.argv.includes('--push-in')) setPriority(constants.priority.PRIORITY_LOW);

const counts = new Map<string, AbuseCounts>();

const flooded = new Set<Socket>();

process.once('message', (target: Target) => {
  process.once('message', () => {
    // Else the server would answer for many seconds what is on its way.
    for (const socket of flooded) socket.resetAndDestroy();
    process.kill(process.pid, 'SIGSTOP');
  });
  for (const { name, localAddress, run } of abuses) {
    const own: AbuseCounts = {};
    counts.set(name, own);
    const count = (what: string, by = 1): void => {
      own[what] = (own[what] ?? 0) + by;
    };
    void run({ target, localAddress, count, flooded });
  }
});
process.once('disconnect', () => process.exit());
setInterval(() => process.send?.(Object.fromEntries(counts)), 250);
