import { type ChildProcess, fork } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { type AbuseCounts, abuses, type Target } from './abuses.ts';
import { startLast } from './priorities.ts';

/** Abuses that run beside honest clients, from a process of their own. */
export interface AbuseProcess {
  /** What has happened so far, by the name of the abuse. */
  counts(): Readonly<Record<string, AbuseCounts>>;
  /**
   * Leaves it where it is: its connections stay open, and nothing is sent or read any more. Only those end on which
   * thousands of requests are on their way.
   */
  hold(): void;
  stop(): Promise<void>;
}

const program = path.join(import.meta.dirname, 'abuser.ts');

/** Why abuses cannot run here, as a sentence that says what to do; undefined where they can. */
export const findObstacle = (platform: NodeJS.Platform = process.platform): string | undefined => {
  if (platform === 'linux' || platform === 'win32') return undefined;
  const have = new Set(Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []));
  const missing = abuses.map(({ localAddress }) => localAddress).filter((address) => !have.has(address));
  if (missing.length === 0) return undefined;
  const commands = missing.map((address) => `sudo ifconfig lo0 alias ${address}`);
  return `The abuses come from addresses that this system lacks. Add them (${commands.join('; ')}), or leave the abuses out with --gentle.`;
};

/** How the abuses of a server are started. */
export interface AbuseOptions {
  readonly largePath: string;
  /** They have the processor like everybody else, and not only when nobody else wants it. */
  readonly pushesIn: boolean;
  /** Told where they end by themselves. */
  readonly onFailure: (reason: string) => void;
}

/** Starts the abuses of a server at this address. */
export const startAbuse = (address: string, { largePath, pushesIn, onFailure }: AbuseOptions): AbuseProcess => {
  const { hostname, port } = new URL(address);
  const start = () => fork(program, pushesIn ? ['--push-in'] : [], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const child: ChildProcess = pushesIn ? start() : startLast(start);
  let counts: Record<string, AbuseCounts> = {};
  let said = '';
  let isStopping = false;
  let isHeld = false;
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
  });
  child.on('message', (message) => {
    counts = message as typeof counts;
  });
  child.send({ host: hostname, port: Number(port), largePath } satisfies Target);
  const ended = new Promise<void>((resolve) =>
    child.once('close', (code) => {
      if (!isStopping) onFailure(`the abuses ended with ${code}: ${said.slice(0, 2000)}`);
      resolve();
    }),
  );
  return {
    counts: () => counts,
    hold: () => {
      if (!isHeld) child.send('hold');
      isHeld = true;
    },
    stop: () => {
      isStopping = true;
      child.kill('SIGKILL');
      return ended;
    },
  };
};
