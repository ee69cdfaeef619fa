import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { documentPath } from '../../src/contract/paths.ts';
import { createApp } from '../app.ts';
import { Unavailable } from '../dependencies.ts';
import { errorAnswer, HttpError } from '../http/answers.ts';
import { clientAddress } from '../http/client-address.ts';
import { failureOf } from '../http/failure.ts';
import { uncountedDownloads } from '../http/uncounted-downloads.ts';
import { CatalogFiles } from '../node/catalog-files.ts';
import { documentMemory, openComputed } from '../node/computed.ts';
import { createDocuments } from '../node/document-files.ts';
import { watchOtherCatalog } from '../node/other-catalog.ts';
import { watchListOfBuild } from '../node/other-safety-list.ts';
import { readPublicAddress } from '../node/published-address.ts';
import { escapeTarget, followPath, targetBelow } from '../node/request-target.ts';
import { safetyFile } from '../node/safety-file.ts';
import { watchStamp } from '../node/watch-stamp.ts';
import type { FetchSettings } from './settings.ts';

/** The function over the files of a build, for hosts that hand over requests and bring their own server. */
export interface FetchHandler {
  /** Answers a request from this address, which is that of the client or of a proxy. Never rejects. */
  fetch(request: Request, peer: string): Promise<Response>;
  /** Closes all files. */
  close(): void;
}

const tell = (event: string, fields: Readonly<Record<string, unknown>>): void =>
  console.error(JSON.stringify({ time: new Date().toISOString(), event, ...fields }));

/**
 * The address of a request as the server has it. Runtimes compose it of what came: some without a host where none was named,
 * some with a path that goes up again, or of whatever Host says. Throws HttpError where that is no host.
 */
const addressOf = ({ url, headers }: Request): string => {
  const host = headers.get('host') || 'localhost';
  const address = /[\s/?#@\\]/.test(host) ? null : URL.parse(escapeTarget(url), `http://${host}`);
  if (address === null) throw new HttpError(400, 'The request must name one host, and a port of at most 65535');
  return address.href;
};

/**
 * The same request at another address. Not made of the request itself: Deno writes a warning when its signal is asked for.
 * Nor with its method: runtimes hand over some that no Request is made with ("TRACE"), or not with a body ("get").
 */
const requestAt = (url: string, { method, headers, body }: Request): Request => {
  const init = body === null ? { headers } : { headers, method: 'POST', body, duplex: 'half' };
  return Object.defineProperty(new Request(url, init as RequestInit), 'method', { value: method });
};

/** A request at its address below the public one, where that has a path. */
const requestBelow = (basePath: string, request: Request): Request => {
  const url = targetBelow(basePath, addressOf(request));
  return url === request.url ? request : requestAt(url, request);
};

/**
 * Opens the files of a build for the function. It writes nothing and follows every later build. There are no sign-ins
 * and no download counters, because any number of such hosts may run, none of them for long.
 *
 * @throws Error if nothing was built there, SafetyListInvalid
 */
export const openFetchHandler = (settings: FetchSettings): FetchHandler => {
  const { out, state, data, rate, olderAddresses, trustedProxies } = settings;
  if (!existsSync(path.join(out, documentPath.landing))) {
    throw new Error(
      `There is nothing to serve in ${path.resolve(out)}: bring what npm run build made, or set DEBDEX_OUT.`,
    );
  }
  let publicAddress = readPublicAddress(out);
  const basePath = followPath(() => publicAddress);
  const search = new CatalogFiles(state);
  const safetyList = data === undefined ? safetyFile : pathToFileURL(path.resolve(data, 'safety.yaml'));
  const computed = openComputed(
    { rate, safetyList },
    {
      report: (error, note) => {
        const cause = error instanceof Unavailable ? (error.cause ?? error) : error;
        tell('fault', { operation: note?.operation, message: String(cause) });
      },
      tell: ({ event, ...fields }) => tell(event, fields),
    },
  );
  const app = createApp({
    ...computed,
    documents: createDocuments({ folder: out, memory: documentMemory }),
    search,
    older: olderAddresses ? search.older : undefined,
    downloads: uncountedDownloads,
    // These hosts have no sign-ins.
    probeCredentials: async () => true,
    publicAddress: () => publicAddress,
  });
  const remedy = 'Let DEBDEX_DATA name a folder with the safety.yaml of the build.';
  const tellList = watchListOfBuild({ out, safety: computed.safety, list: safetyList, remedy }, (message) =>
    tell('other-safety-list', { message }),
  );
  tellList();
  const tellFormat = watchOtherCatalog(state, (message) => tell('other-catalog', { message }));
  tellFormat();
  const follow = (): void => {
    publicAddress = readPublicAddress(out);
    try {
      search.refresh();
    } catch (error) {
      computed.report(error);
    }
    tellFormat();
    tellList();
  };
  const stopWatching = watchStamp(path.join(state, 'generation.json'), follow);
  return {
    fetch: async (request, peer) => {
      const forwarded = request.headers.get('x-forwarded-for') ?? undefined;
      try {
        const client = clientAddress(peer, forwarded, trustedProxies);
        return await app.fetch(requestBelow(basePath(), request), {
          clientAddress: client,
          note: { id: '', operation: undefined },
        });
      } catch (error) {
        return errorAnswer(failureOf(error, computed, undefined), computed.now(), request.method);
      }
    },
    close: () => {
      stopWatching();
      computed.safety.close();
      search.close();
    },
  };
};
