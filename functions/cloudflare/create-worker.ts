import type { Hono } from 'hono';
import { ourFault } from '../../src/contract/errors.ts';
import { operatorPath } from '../../src/contract/gateway-schemas.ts';
import { createApp } from '../app.ts';
import { type Dependencies, Unavailable } from '../dependencies.ts';
import { closeToScripts, errorAnswer, HttpError } from '../http/answers.ts';
import { isOfGateway, pathOf } from '../http/request-path.ts';
import { type CatalogStub, elsewhereHeader, type ObjectName, objectNames } from './catalog-stub.ts';
import { answerTotals } from './download-totals.ts';
import { publishedDocuments } from './published-files.ts';
import { type Environment, operatorKeyOf, readSettings, type Settings } from './settings.ts';
import { asksPage, isComputed } from './share.ts';

/** Which of the two objects answered last; the one that does not says so. */
let answering: ObjectName = 'one';

const unavailable = (request: Request): Response => {
  const error = new HttpError(503, ourFault[503], { 'Retry-After': '5' });
  return errorAnswer(error, new Date(), request.method);
};

/**
 * Reads an answer completely. Otherwise what slow clients leave unread would fill the memory of the one object that
 * answers everybody; here it fills the memory of an isolate, of which the platform has many. Files are still streamed.
 */
const whole = async (answer: Response): Promise<Response> =>
  answer.body === null || answer.headers.has('etag') ? answer : new Response(await answer.arrayBuffer(), answer);

/** Asks the object that has the catalog in force; undefined if neither has one. */
const askObject = async (request: Request, { CATALOG }: Environment): Promise<Response | undefined> => {
  const asked: ObjectName = answering;
  // A body is read once.
  const again = request.clone() as Request;
  const stub = (name: ObjectName): CatalogStub => CATALOG.getByName(name);
  const first = await stub(asked).fetch(request);
  if (!first.headers.has(elsewhereHeader)) return whole(first);
  const other = asked === objectNames[0] ? objectNames[1] : objectNames[0];
  const second = await stub(other).fetch(again);
  if (second.headers.has(elsewhereHeader)) return undefined;
  answering = other;
  return whole(second);
};

const notAnswered = async (): Promise<never> => {
  throw new Unavailable('This is answered from the catalog');
};

const report = (error: unknown): void => {
  const cause = error instanceof Unavailable ? (error.cause ?? error) : error;
  console.error(JSON.stringify({ time: new Date().toISOString(), event: 'fault', message: String(cause) }));
};

/**
 * The app over the published files alone: pages, and documents under any of their addresses. With the gateway, if there
 * is one.
 */
const createPublishedApp = ({ files }: Settings, gateway?: Hono) => {
  const dependencies: Dependencies = {
    documents: publishedDocuments(files),
    search: {
      searchPackages: notAnswered,
      searchRepositories: notAnswered,
      repositoryPackages: notAnswered,
      latest: notAnswered,
      known: notAnswered,
      knows: notAnswered,
      dependencies: notAnswered,
      probe: notAnswered,
    },
    safety: { check: () => false, listed: undefined },
    downloads: { add: notAnswered, read: notAnswered, probe: notAnswered },
    limiter: { take: () => 0 },
    probeCredentials: notAnswered,
    now: () => new Date(),
    // Pages need only the path of the public address; a Worker already answers at the right host.
    publicAddress: () => 'https://index.invalid',
    report,
    ...(gateway ? { gateway } : {}),
  };
  return createApp(dependencies);
};

/** The gateway of a Worker that has one, opened with the first request. */
export interface GatewayOfWorker {
  /** Its routes, below the API's root. */
  readonly routes: Hono;
  /** Answers the commands of the operator; undefined if they are not accepted. */
  readonly operate: ((request: Request, clientAddress: string) => Promise<Response>) | undefined;
}

interface Opened {
  readonly settings: Settings;
  readonly published: ReturnType<typeof createPublishedApp> | undefined;
  /** Answers requests for the gateway; undefined for any other. */
  readonly askGateway: (request: Request) => Promise<Response> | undefined;
}

/** How long to wait before opening a gateway again that failed to open, in milliseconds. */
const retryInterval = 10_000;

const askGateway = (gateway: GatewayOfWorker, settings: Settings): Opened['askGateway'] => {
  const app = createPublishedApp(settings, gateway.routes);
  return (request) => {
    // The platform sets this header, whatever the client sent.
    const clientAddress = request.headers.get('cf-connecting-ip') ?? '';
    if (gateway.operate && pathOf(request.url) === operatorPath) return gateway.operate(request, clientAddress);
    if (!isOfGateway(request.url)) return undefined;
    return Promise.resolve(app.fetch(request, { clientAddress, note: { id: '', operation: undefined } }));
  };
};

// A mistyped secret must not take search and pages down as well.
const refuseAll: Opened['askGateway'] = (request) =>
  isOfGateway(request.url) || pathOf(request.url) === operatorPath
    ? Promise.resolve(closeToScripts(unavailable(request)))
    : undefined;

/**
 * The Worker. It answers published files and the gateway's addresses itself, and leaves everything else to the object
 * that has the catalog.
 */
export const createWorker = <Bound extends Environment>(
  openGateway?: (environment: Bound) => Promise<GatewayOfWorker>,
) => {
  let opened: Opened | undefined;
  /** When what failed to open is tried again, in milliseconds since 1970. */
  let retryAt = Number.POSITIVE_INFINITY;
  // Every request that comes before all is open opens it for itself. If it waited for work that another request began,
  // it would wait for ever once the platform ends that request.
  const open = async (environment: Bound): Promise<Opened> => {
    if (opened !== undefined && Date.now() < retryAt) return opened;
    const settings = readSettings(environment);
    const published = settings.hasPages ? createPublishedApp(settings) : undefined;
    // If the platform cuts off the request that retries, another one does it.
    if (opened !== undefined) retryAt = Date.now() + retryInterval;
    try {
      const gateway = await openGateway?.(environment);
      opened = { settings, published, askGateway: gateway ? askGateway(gateway, settings) : () => undefined };
      retryAt = Number.POSITIVE_INFINITY;
    } catch (error) {
      report(error);
      // Another request may have opened it meanwhile.
      if (opened === undefined || retryAt !== Number.POSITIVE_INFINITY) {
        opened = { settings, published, askGateway: refuseAll };
        retryAt = Date.now() + retryInterval;
      }
    }
    return opened;
  };
  return {
    fetch: async (request: Request, environment: Bound): Promise<Response> => {
      let found: Opened;
      try {
        found = await open(environment);
      } catch (error) {
        // The message of a configuration error says what to write.
        report(error);
        return unavailable(request);
      }
      const { published, settings } = found;
      const totals = settings.downloads && answerTotals(request, settings.downloads, operatorKeyOf(environment));
      if (totals !== undefined) return totals;
      const ofGateway = found.askGateway(request);
      if (ofGateway !== undefined) return ofGateway;
      const isPage = published !== undefined && asksPage(request.url);
      if (published !== undefined && !isPage && !isComputed(request)) return published.fetch(request);
      const again = request.clone() as Request;
      const answer = await askObject(request, environment).catch((error) => {
        // An object that is moved or restarted cuts off its requests.
        report(error);
        return undefined;
      });
      if (answer !== undefined) return answer;
      // The page reports this itself, and its scripts then use the search index among the files.
      return isPage ? published.fetch(again) : unavailable(again);
    },
  };
};
