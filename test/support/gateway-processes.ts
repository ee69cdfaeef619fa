import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A gateway in a process of its own. */
export interface GatewayProcess {
  readonly base: string;
  /** The addresses of all its gateways, if there are several. */
  readonly bases: readonly string[];
  /** Sets how far its clock is ahead of the real one. */
  setAhead(milliseconds: number): Promise<void>;
  kill(): Promise<void>;
}

const program = fileURLToPath(new URL('./gateway-process.ts', import.meta.url));

/**
 * Starts a gateway. `fileLimit` limits the size of the files that it writes, in the shell's blocks, to simulate a full
 * disk.
 */
export const startGatewayProcess = async (
  environment: Readonly<Record<string, string>>,
  { fileLimit = 'unlimited' }: { fileLimit?: number | 'unlimited' } = {},
): Promise<GatewayProcess> => {
  const child = spawn('sh', ['-c', `ulimit -f ${fileLimit}; exec "$@"`, 'sh', process.execPath, program], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const started = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (!started) throw new Error('a gateway process ended at its start');
  const [{ ports }] = started as [{ ports: [number, ...number[]] }];
  const [base, ...others] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, ...string[]];
  return {
    base,
    bases: [base, ...others],
    setAhead: async (ahead) => {
      const heard = once(child, 'message');
      child.send({ ahead });
      await heard;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

/** Starts a process with several gateways, each with its own environment. */
export const startProcessOfGateways = (surroundings: readonly Readonly<Record<string, string>>[]) =>
  startGatewayProcess({ TESTED_GATEWAYS: JSON.stringify(surroundings) });

/** Starts several gateways on one store. */
export const startGatewayProcesses = (count: number, environment: Readonly<Record<string, string>>) =>
  Promise.all(Array.from({ length: count }, () => startGatewayProcess(environment)));
