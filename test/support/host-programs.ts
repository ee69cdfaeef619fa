import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Miniflare } from 'miniflare';
import { limitTable } from '../../functions/node/limits.ts';
import { basePathOf } from '../../src/contract/paths.ts';
import type { HostName } from '../../src/hosts/hosts.ts';
import { readPublication } from '../../src/hosts/publication.ts';
import { writeRules } from '../../src/hosts/write-rules.ts';
import { findProgram } from './find-program.ts';
import { temporaryFolder } from './folder.ts';

/** A host on loopback with the rules that are published for it. */
export interface RunningHost {
  /** Its address, without a trailing slash and without the path of the publication. */
  readonly address: string;
  close(): Promise<void>;
}

interface Hosted {
  /** The folder of the publication. */
  readonly publication: string;
  readonly functionUrl?: string | undefined;
}

type Start = (
  hosted: Hosted & { readonly rules: string; readonly folder: string; readonly below: string },
) => Promise<RunningHost>;

/** A port that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(socket.destroy() !== undefined));
    socket.once('error', () => resolve(false));
  });

// Programs do not report when they begin to listen, so this tries to connect.
const untilListening = async (port: number, program: ChildProcess, said: () => string): Promise<void> => {
  while (!(await answers(port))) {
    if (program.exitCode !== null) throw new Error(`The program ended with ${program.exitCode}: ${said()}`);
    await sleep(20);
  }
};

/** Starts a program that listens on a port of loopback, and waits until it does. */
const runHost = async (
  file: string,
  parameters: readonly string[],
  port: number,
  home: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningHost> => {
  const program = spawn(file, parameters, {
    cwd: home,
    env: { ...process.env, HOME: home, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [program.stdout, program.stderr]) stream?.on('data', (chunk) => (said += chunk));
  await untilListening(port, program, () => said);
  return {
    address: `http://127.0.0.1:${port}`,
    close: async () => {
      const end = once(program, 'exit');
      program.kill('SIGTERM');
      await end;
    },
  };
};

/** Runs nginx with these lines in its "http" block. One of them must listen on the port. */
export const runNginx = (http: string, port: number, folder: string): Promise<RunningHost> => {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${path.join(folder, name)};`,
  );
  writeFileSync(
    path.join(folder, 'nginx.conf'),
    `daemon off; ${process.getuid?.() === 0 ? 'user root; ' : ''}worker_processes 1; pid ${folder}/pid; error_log stderr;
     events { worker_connections 256; }
     http { access_log off; ${temporary.join(' ')}
       ${http} }\n`,
  );
  return runHost(findProgram('nginx') ?? '', ['-c', path.join(folder, 'nginx.conf')], port, folder);
};

/** Runs Caddy with a Caddyfile whose site listens on the port, without the admin endpoint and certificates. */
export const runCaddy = (
  sites: string,
  port: number,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningHost> => {
  const file = path.join(folder, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${sites}`);
  const parameters = ['run', '--config', file, '--adapter', 'caddyfile'];
  return runHost(findProgram('caddy') ?? '', parameters, port, folder, environment);
};

const startNginx: Start = async ({ rules, folder, publication, below }) => {
  const port = await freePort();
  const root = below === '' ? publication : path.join(folder, 'www');
  if (below !== '') {
    mkdirSync(path.dirname(path.join(root, below)), { recursive: true });
    symlinkSync(publication, path.join(root, below));
  }
  return runNginx(
    `include ${rules}/debdex-http.conf;
     server { listen 127.0.0.1:${port}; root ${root}; include ${rules}/debdex-server.conf; }`,
    port,
    folder,
  );
};

const startCaddy: Start = async ({ rules, folder }) => {
  const port = await freePort();
  return runCaddy(`http://127.0.0.1:${port} {\n\timport ${rules}/debdex.caddy\n}\n`, port, folder);
};

const hideStaging = (source: string): boolean => !['.debdex', '.staging'].includes(path.basename(source));
// Leaves out dotted names as the program's own command does, even if a package has such a name.
const hideDotted = (source: string): boolean => !path.basename(source).startsWith('.');

/** Both kinds run workerd, with Cloudflare's own handling of assets before or behind the Worker. */
const startWorkerd =
  (script: string, assets: string, routes: (rules: string) => unknown): Start =>
  async ({ rules, folder, publication }) => {
    const directory = path.join(folder, 'public');
    cpSync(publication, directory, { recursive: true, filter: hideStaging });
    cpSync(path.join(rules, assets, '_headers'), path.join(directory, '_headers'));
    const first = routes(rules);
    const workerd = new Miniflare({
      modules: true,
      script: readFileSync(path.join(rules, script), 'utf8'),
      compatibilityDate: '2026-01-01',
      host: '127.0.0.1',
      port: 0,
      assets: {
        directory,
        binding: 'ASSETS',
        routerConfig: {
          has_user_worker: true,
          ...(Array.isArray(first)
            ? { static_routing: { user_worker: first } }
            : { invoke_user_worker_ahead_of_assets: true }),
        },
      },
    });
    const address = (await workerd.ready).origin;
    return { address, close: () => workerd.dispose() };
  };

const workersRoutes = (rules: string): unknown =>
  JSON.parse(readFileSync(path.join(rules, 'wrangler.jsonc'), 'utf8').replace(/^\/\/.*\n/, '')).assets.run_worker_first;

const pagesRoutes = (rules: string): unknown =>
  JSON.parse(readFileSync(path.join(rules, '_routes.json'), 'utf8')).include;

const toRequest = (incoming: IncomingMessage, port: number): Request => {
  const { method = 'GET', headers, url = '/' } = incoming;
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || /^(?:connection|host|keep-alive|transfer-encoding)$/.test(name)
      ? []
      : [[name, String(value)] as [string, string]],
  );
  const body = method === 'GET' || method === 'HEAD' ? {} : { body: ReadableStream.from(incoming), duplex: 'half' };
  return new Request(`http://127.0.0.1:${port}${url}`, {
    method,
    headers: given,
    redirect: 'manual',
    ...body,
  } as RequestInit);
};

/**
 * The parts of Netlify's development server for redirects, files and headers. It does not support the statuses of
 * rewrites and the page for missing files, so these are added according to its documentation.
 */
const startNetlify: Start = async ({ rules, folder, publication, below }) => {
  // Loading them takes half a second, and most who import this module start another host or none.
  const [{ HeadersHandler }, { RedirectsHandler }, { StaticHandler }] = await Promise.all([
    import('@netlify/headers'),
    import('@netlify/redirects'),
    import('@netlify/static'),
  ]);
  const directory = path.join(folder, 'public');
  cpSync(publication, path.join(directory, below), { recursive: true, filter: hideDotted });
  cpSync(rules, directory, { recursive: true });
  const files = new StaticHandler({ directory });
  const redirects = new RedirectsHandler({
    configRedirects: [],
    jwtRoleClaim: '',
    jwtSecret: '',
    projectDir: directory,
    publicDir: directory,
  });
  const logger = { log: () => {}, warn: () => {}, error: (message?: string) => expectNone(message) };
  const headers = new HeadersHandler({ projectDir: directory, publishDir: '.', logger });
  const readFile = async (request: Request) => (await files.match(request))?.handle;
  const answer = async (request: Request): Promise<Response> => {
    const match = await redirects.match(request);
    if (match !== undefined) {
      const response = await redirects.handle(request, match, readFile);
      if (response !== undefined && (match.external || match.redirect)) return response;
      if (response !== undefined) {
        const shadowed = !match.force && (await readFile(request)) !== undefined;
        const status = shadowed ? 200 : match.statusCode;
        const found = new Response(response.body, { status, headers: response.headers });
        await headers.apply(request, found);
        return found;
      }
    }
    const file = match === undefined ? await readFile(request) : undefined;
    const missing =
      file === undefined ? await readFile(new Request(new URL(`${below}/404.html`, request.url))) : undefined;
    const response = (await (file ?? missing)?.()) ?? new Response('Not found');
    const found = new Response(response.body, { status: file === undefined ? 404 : 200, headers: response.headers });
    await headers.apply(request, found);
    return found;
  };
  // As long an address as our own server accepts.
  const maxHeaderSize = limitTable.requestLine.value + limitTable.headers.value;
  const server = createServer({ maxHeaderSize }, async (incoming, outgoing) => {
    const { port } = server.address() as AddressInfo;
    try {
      const response = await answer(toRequest(incoming, port));
      const kept = [...response.headers].filter(
        ([name]) => !/^(?:content-encoding|content-length|transfer-encoding)$/.test(name),
      );
      outgoing.writeHead(response.status, Object.fromEntries(kept));
      outgoing.end(incoming.method === 'HEAD' ? undefined : Buffer.from(await response.arrayBuffer()));
    } catch (error) {
      outgoing.writeHead(599).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const expectNone = (message?: string): void => {
  throw new Error(`Netlify does not understand the rules: ${message}`);
};

const programs: Readonly<Record<HostName, { readonly start: Start; readonly program?: string }>> = {
  nginx: { start: startNginx, program: 'nginx' },
  caddy: { start: startCaddy, program: 'caddy' },
  'cloudflare-workers': { start: startWorkerd('worker.js', 'public', workersRoutes) },
  'cloudflare-pages': { start: startWorkerd('_worker.js', '.', pagesRoutes) },
  netlify: { start: startNetlify },
};

/** The program that a host needs, if it is not installed here. */
export const missingProgram = (host: HostName): string | undefined => {
  const { program } = programs[host];
  return program === undefined || findProgram(program) !== undefined ? undefined : program;
};

/** Writes the rules of a host for a publication, and runs it with them. */
export const startHost = async (host: HostName, hosted: Hosted): Promise<RunningHost> => {
  const folder = temporaryFolder();
  const rules = path.join(folder, 'rules');
  writeRules({ host, out: rules, now: new Date('2026-05-02T00:00:00Z'), ...hosted });
  const below = basePathOf(readPublication(hosted.publication).base);
  return programs[host].start({ ...hosted, rules, folder, below });
};
