import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A gateway in a process of its own. */
export interface GatewayProcess {
  readonly base: string;
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
  const [{ port }] = started;
  return {
    base: `http://127.0.0.1:${port}`,
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

/** Starts several on one store. */
export const startGatewayProcesses = (count: number, environment: Readonly<Record<string, string>>) =>
  Promise.all(Array.from({ length: count }, () => startGatewayProcess(environment)));
