import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A gateway in a process of its own. */
export interface GatewayProcess {
  readonly base: string;
  /** The addresses of all its gateways, where it has several. */
  readonly bases: readonly string[];
  /** Sets how far its clock is ahead of the real one. */
  setAhead(milliseconds: number): Promise<void>;
  kill(): Promise<void>;
}

const program = fileURLToPath(new URL('./gateway-process.ts', import.meta.url));

/** Starts one; `fileLimit` bounds the size of any file that it writes, in blocks of the shell, as a full disk would. */
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

/** Starts one of several gateways, each in surroundings of its own. */
export const startProcessOfGateways = (surroundings: readonly Readonly<Record<string, string>>[]) =>
  startGatewayProcess({ TESTED_GATEWAYS: JSON.stringify(surroundings) });

/** Starts several on one store. */
export const startGatewayProcesses = (count: number, environment: Readonly<Record<string, string>>) =>
  Promise.all(Array.from({ length: count }, () => startGatewayProcess(environment)));
