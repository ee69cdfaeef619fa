import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { openFetchHandler } from '../../functions/fetch/handler.ts';
import { answerEvents, type LambdaEvent } from '../../functions/fetch/lambda-events.ts';
import { readFetchSettings } from '../../functions/fetch/settings.ts';
import type { BuiltPublication } from './built-publication.ts';
import { decoded, type Received, type Sent } from './wire.ts';

/** Sends a request to a running host. */
export type Ask = (sent: Sent) => Promise<Received>;

const settingsOf = ({ folder, state }: BuiltPublication) => ({
  DEBDEX_OUT: folder,
  DEBDEX_STATE: state,
  DEBDEX_RATE_LIMIT: '0',
});

const openHandler = (publication: BuiltPublication) => {
  const handler = openFetchHandler(readFetchSettings(settingsOf(publication)));
  onTestFinished(handler.close);
  return handler;
};

const receive = async (response: Response): Promise<Received> => {
  const body = Buffer.from(await response.arrayBuffer());
  return decoded({ status: response.status, headers: Object.fromEntries(response.headers), body });
};

/** The fetch handler, called with Node's Request objects. */
export const askFetch = (publication: BuiltPublication): Ask => {
  const { fetch } = openHandler(publication);
  return async ({ method, target, headers = {}, body }) =>
    receive(
      await fetch(
        new Request(`http://localhost${target}`, {
          method,
          headers,
          ...(body === undefined ? {} : { body: Buffer.from(body) }),
        }),
        '127.0.0.1',
      ),
    );
};

/** The event of a function URL for a request, as AWS documents it (payload format 2.0). */
const lambdaEvent = ({ method, target, headers = {}, body }: Sent): LambdaEvent => {
  const [rawPath = '', ...query] = target.split('?');
  return {
    rawPath,
    rawQueryString: query.join('?'),
    headers: { host: 'abcd.lambda-url.eu-central-1.on.aws', ...headers },
    requestContext: {
      http: { method, sourceIp: '192.0.2.1' },
      domainName: 'abcd.lambda-url.eu-central-1.on.aws',
      stage: '$default',
    },
    ...(body === undefined ? {} : { body: Buffer.from(body).toString('base64') }),
    isBase64Encoded: body !== undefined,
  };
};

/** The Lambda handler, called with events. */
export const askLambda = (publication: BuiltPublication): Ask => {
  const handle = answerEvents(openHandler(publication));
  return async (sent) => {
    const { statusCode: status, headers, body, isBase64Encoded } = await handle(lambdaEvent(sent));
    return decoded({ status, headers, body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') });
  };
};

// The address at which a program says that it listens.
const addressOf = async (program: ChildProcess): Promise<URL> => {
  let said = '';
  const { promise, resolve, reject } = Promise.withResolvers<URL>();
  for (const input of [program.stdout, program.stderr]) {
    if (input === null) continue;
    createInterface({ input }).on('line', (line) => {
      said += `${line}\n`;
      const [address] = /http:\/\/[\d.]+:\d+/.exec(line) ?? [];
      if (address !== undefined) resolve(new URL(address));
    });
  }
  program.once('exit', (code) => reject(new Error(`It ended with ${code}: ${said}`)));
  program.once('error', reject);
  return promise;
};

/** Starts another runtime over a publication; it ends with the test. Resolves to its port. */
export const startRuntime = async (
  publication: BuiltPublication,
  file: string,
  parameters: readonly string[],
): Promise<number> => {
  const program = spawn(file, parameters, {
    env: { ...process.env, ...settingsOf(publication), DEBDEX_PORT: '0', DEBDEX_HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => program.once('close', resolve));
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await ended;
  });
  return Number((await addressOf(program)).port);
};
