import { createApp } from '../app.ts';
import { type Dependencies, Unavailable } from '../dependencies.ts';
import { errorAnswer, HttpError } from '../http/answers.ts';
import { type CatalogStub, elsewhereHeader, type ObjectName, objectNames } from './catalog-stub.ts';
import { publishedDocuments } from './published-files.ts';
import { type Environment, readSettings, type Settings } from './settings.ts';
import { isComputed } from './share.ts';

export { CatalogObject } from './catalog-object.ts';

/** Which of the two objects answered last; the one that does not says so. */
let answering: ObjectName = 'one';

const unavailable = (request: Request): Response => {
  const error = new HttpError(503, 'The service cannot answer this at the moment', { 'Retry-After': '5' });
  return errorAnswer(error, new Date(), request.method);
};

/** The answer of the object that has the catalog in force. */
const askObject = async (request: Request, { CATALOG }: Environment): Promise<Response> => {
  const asked: ObjectName = answering;
  // A body is read once.
  const again = request.clone() as Request;
  const stub = (name: ObjectName): CatalogStub => CATALOG.getByName(name);
  const first = await stub(asked).fetch(request);
  if (!first.headers.has(elsewhereHeader)) return first;
  const other = asked === objectNames[0] ? objectNames[1] : objectNames[0];
  const second = await stub(other).fetch(again);
  if (second.headers.has(elsewhereHeader)) return unavailable(again);
  answering = other;
  return second;
};

const notAnswered = async (): Promise<never> => {
  throw new Unavailable('This is answered from the catalog');
};

const report = (error: unknown): void =>
  console.error(JSON.stringify({ time: new Date().toISOString(), event: 'fault', message: String(error) }));

/** The same app over the published files alone: pages, and documents under any of their addresses. */
const createPublishedApp = ({ files }: Settings) => {
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
    // Only the path of the address counts for pages, and a Worker has a host of its own.
    publicAddress: () => 'https://index.invalid',
    report,
  };
  return createApp(dependencies);
};

interface Opened {
  readonly settings: Settings;
  readonly published: ReturnType<typeof createPublishedApp> | undefined;
}

let opened: Opened | undefined;

const open = (environment: Environment): Opened => {
  const settings = readSettings(environment);
  return { settings, published: settings.hasPages ? createPublishedApp(settings) : undefined };
};

/** The Worker: what is published is answered here, everything else by the object that has the catalog. */
export default {
  fetch: async (request: Request, environment: Environment): Promise<Response> => {
    opened ??= open(environment);
    const { published } = opened;
    if (published !== undefined && !isComputed(request.url)) return published.fetch(request);
    try {
      return await askObject(request, environment);
    } catch (error) {
      // An object that is moved or restarted cuts what it was asked.
      report(error);
      return unavailable(request);
    }
  },
};
