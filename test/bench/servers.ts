import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { memoryFlags } from '../../scripts/memory-flags.ts';
import type { Built } from './builds.ts';
import { npmScript, startProcess } from './processes.ts';
import { Missing, type Workshop } from './workshop.ts';

/** A server that is measured. */
export interface Server {
  readonly address: string;
  /**
   * The processor time that it and its workers have used so far, in seconds; undefined if the system does not report
   * it.
   */
  processorSeconds(): number | undefined;
  /** Its process id. */
  readonly pid?: number;
  stop(): Promise<void>;
}

// Fields 14 and 15 of /proc/<pid>/stat, in hundredths of a second: proc(5).
const readProcessorSeconds = (pid: number): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
};

const childrenOf = (pid: number): number[] => {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return list === '' ? [] : list.split(' ').map(Number);
  } catch {
    return [];
  }
};

const processorSecondsOf = (pid: number): number | undefined => {
  const own = readProcessorSeconds(pid);
  return own === undefined
    ? undefined
    : childrenOf(pid).reduce((sum, child) => sum + (readProcessorSeconds(child) ?? 0), own);
};

const findFreePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/**
 * Our server, as `npm run serve` starts it, but without a limit for the single client that sends all requests. `more`
 * are further flags, `script` what Node is given to start it.
 */
export const startOurs = async (
  workshop: Workshop,
  { state, out }: Pick<Built, 'state' | 'out'> & Partial<Built>,
  more: readonly string[] = [],
  script: readonly string[] = npmScript('serve'),
): Promise<Server> => {
  const flags = ['--state', state, '--out', out, '--port', '0', '--rate-limit', '0', ...more];
  const server = await startProcess(process.execPath, [...script, ...flags], /^Listening on /);
  const stop = () => server.stop();
  workshop.atEnd(stop);
  const pid = server.child.pid ?? 0;
  return {
    address: server.line.replace('Listening on ', ''),
    processorSeconds: () => processorSecondsOf(pid),
    pid,
    stop,
  };
};

/** What Node is given to start a bundle of the server that was made into this folder (docs/builds.md). */
export const bundledServe = (folder: string): string[] => [...memoryFlags.serve, `${folder}/serve.mjs`];

// Debian's configuration, but without a log of every request, because ours keeps none either.
const nginxConfiguration = (folder: string, out: string, port: number, more: string): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
daemon off;
pid ${folder}/pid;
error_log stderr notice;
events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  access_log off;
  types { application/json json; }
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  ${more}
  server { listen 127.0.0.1:${port}; root ${out}; }
}
`;

/** nginx with one worker over the same files. `more` is added to its http block. */
export const startNginx = async (workshop: Workshop, { out }: Built, more = ''): Promise<Server> => {
  if (spawnSync('nginx', ['-v']).error !== undefined) throw new Missing('there is no nginx on this machine');
  const port = await findFreePort();
  const folder = workshop.path(`nginx-${port}`);
  mkdirSync(folder);
  const configuration = `${folder}/nginx.conf`;
  writeFileSync(configuration, nginxConfiguration(folder, out, port, more));
  const flags = ['-p', folder, '-c', configuration, '-e', 'stderr'];
  const server = await startProcess('nginx', flags, /start worker process \d/, { on: 'stderr' });
  // Its output at the end would otherwise fill the pipe.
  const stop = () => server.stop('SIGQUIT');
  workshop.atEnd(stop);
  const pid = server.child.pid ?? 0;
  return { address: `http://127.0.0.1:${port}`, processorSeconds: () => processorSecondsOf(pid), stop };
};
