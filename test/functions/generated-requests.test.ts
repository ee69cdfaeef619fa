import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Unavailable } from '../../functions/dependencies.ts';
import { gatewayOperations } from '../../src/contract/gateway-schemas.ts';
import { generationPath } from '../../src/contract/generation.ts';
import {
  documentOperations,
  isOfSite,
  publicationOperations,
  siteOperations,
} from '../../src/contract/openapi-documents.ts';
import { documentPath, type Operation, operations } from '../../src/contract/paths.ts';
import { composeBadge } from '../../src/site/badge.ts';
import { composeJsonFeed } from '../../src/site/feeds.ts';
import { readPublished } from '../clients/published-records.ts';
import { type BuiltServer, serveBuild } from '../support/built.ts';
import { canonicalPath, DescribedAnswers, operationOf } from '../support/described-answers.ts';
import { generatedRepositories } from '../support/generated.ts';
import { arbitraryRequest } from '../support/generated-requests.ts';
import { timesFrom } from '../support/longer-runs.ts';
import { exchangeParsed } from '../support/raw-http.ts';
import { openConnections, type Received, type Sent } from '../support/wire.ts';

const emptyPage = '{"message":"200 Successful","date":"2026-05-01T00:00:00.000Z","refs":{},"count":0,"data":[]}';

let server: BuiltServer;
let connections: ReturnType<typeof openConnections>;
let answers: DescribedAnswers;
/** What the dependencies of the server do at the moment. */
let mode: 'well' | 'limited' | 'unavailable' | 'broken' = 'well';

const fail = () => {
  if (mode === 'unavailable') throw new Unavailable('away');
  if (mode === 'broken') throw new Error('broken');
};
// A fault that no dependency is asked about can only be the clock's.
let clockFails = false;
const now = () => {
  if (clockFails) {
    clockFails = false;
    throw new Error('broken');
  }
  return new Date(Date.now() + passed);
};
let passed = 0;

beforeAll(async () => {
  server = await serveBuild(generatedRepositories(), {
    limits: { headersTimeout: 300, requestTimeout: 600, timeoutInterval: 100 },
    overrides: {
      now,
      limiter: {
        take: () => {
          fail();
          return mode === 'limited' ? 3 : 0;
        },
      },
      probeCredentials: async () => mode === 'well',
    },
  });
  const { documents } = server.dependencies;
  const { read } = documents;
  Object.assign(documents, {
    read: (...asked: Parameters<typeof read>) => {
      fail();
      return read(...asked);
    },
  });
  server.write(documentPath.status, emptyStatus);
  connections = openConnections(server.port);
  const { body } = await connections.send({ method: 'GET', target: '/v2/openapi.json' });
  answers = new DescribedAnswers(JSON.parse(body.toString()));
});
afterAll(async () => {
  connections.close();
  await server.close();
});

const check = (sent: Sent, received: Received) => {
  const operation = operationOf(sent.target);
  const isPage = received.headers['content-type']?.startsWith('text/html') || received.status === 308;
  // Outside the API are the pages of the site.
  const path = canonicalPath(sent.target);
  if (isPage && !path.startsWith('/v2') && !path.startsWith('/jailbreak')) return undefined;
  return answers.check(operation, sent.method, received);
};

const emptyStatus = JSON.stringify({
  message: '200 Successful',
  date: '2026-06-01T00:00:00.000Z',
  data: { builds: [], repositories: [] },
});
const digest = '0'.repeat(64);
const date = '2026-06-01T00:00:00.000Z';
const firstGeneration = JSON.stringify({
  format: 1,
  number: 1,
  date,
  previous: null,
  catalog: { path: generationPath.catalog(digest), sha256: digest, size: 1, compressed_size: 1 },
  documents: { count: 1, digest, inventory: generationPath.inventory(digest) },
  changes: generationPath.changes(1),
});
const firstChanges = JSON.stringify({
  format: 1,
  number: 1,
  date,
  previous: null,
  documents: { written: [], removed: [] },
  packages: [{ package_id: 'a', repository: 'b', change: 'added', version: '1', previous_version: null }],
});
const emptyBadge = JSON.stringify(composeBadge({ service: 'Index', outcome: undefined, packages: 0 }));
const emptyFeed = composeJsonFeed({
  base: 'https://index.test',
  title: 'None',
  home: '/',
  atom: '/a',
  json: '/j',
  entries: [],
  since: '2026-06-01T00:00:00.000Z',
});

const requests = 8 * timesFrom('DEBDEX_TEST_SEQUENCES', 75);
/** So many are under way at once. */
const atOnce = 8;

describe('H5 generated requests', () => {
  it(`${requests} answers are as described, and no status is outside the description`, {
    timeout: 60_000 + 15 * requests,
  }, async () => {
    const { packages, repositories } = readPublished(server.folder);
    const ids = [...new Set(packages.map(({ package_id }) => package_id))];
    const arbitrary = arbitraryRequest(
      ids.filter((_, index) => index % 5 === 0),
      repositories.map(({ slug }) => slug),
    );
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(arbitrary, { minLength: atOnce, maxLength: atOnce }), async (sent) => {
        const received = await Promise.all(sent.map(connections.send));
        for (const [index, each] of sent.entries()) {
          expect(check(each, received[index] as Received), `${each.method} ${each.target}`).toBeUndefined();
          answered++;
        }
      }),
      { numRuns: requests / atOnce, endOnFailure: true },
    );
    expect(answered).toBe(requests);
    expect(server.faults).toEqual([]);
  });

  it('reach every status of every operation', async () => {
    const values: Record<string, string> = {
      packageId: 'odd.bare',
      packageFile: 'odd.bare',
      repositorySlug: 'odd',
      repositoryFile: 'odd',
      repositoryFolder: 'odd',
      packageFolder: 'odd.bare',
      authorFolder: 'ada',
      sectionKind: 'tweaks',
      rankFile: 'all',
      generation: '1',
      pageNumber: '1',
      pageFile: '1',
    };
    const rootOf = ({ tag }: Operation) => (isOfSite(tag) ? '' : '/v2');
    const ask = async (operation: Operation, sent: Partial<Sent> = {}) => {
      const address = operation.address.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
      const query: Record<string, string> = { q: 'snow', rank: '*', ids: 'odd.bare', uris: 'https://a.example/' };
      const names = (operation.query ?? []).filter((name) => name in query);
      // A document that is ready needs no dependency; with a query it is not taken from there.
      const search = `?${['unknown=1', ...names.map((name) => `${name}=${query[name]}`)].join('&')}`;
      const whole = { method: operation.method, target: `${rootOf(operation)}${address}${search}`, ...sent };
      if (operation.method === 'POST' && whole.method === 'POST' && whole.body === undefined) {
        Object.assign(whole, { body: '[]', headers: { 'content-type': 'application/json', ...whole.headers } });
      }
      // Where the machine has much else to do, even what is sent at once may come too late for the short limit.
      let received: Received;
      do {
        received = await connections.send(whole);
        const wrong = answers.check(operation, whole.method, received);
        expect(wrong, `${whole.method} ${whole.target} ${mode}`).toBeUndefined();
      } while (received.status === 408);
    };
    const tables = [operations, documentOperations, publicationOperations, siteOperations];
    const all = tables.flatMap((table): Operation[] => Object.values(table));
    for (const { address, type } of Object.values(siteOperations)) {
      server.write(
        address.replace(/\{(\w+)\}/, (_, name: string) => values[name] ?? '').slice(1),
        type.includes('json') ? (address.startsWith('/badge/') ? emptyBadge : emptyFeed) : '<feed/>',
      );
    }
    server.write(documentPath.repositoryPackagesPage('odd', 1), emptyPage);
    server.write(generationPath.current, firstGeneration);
    server.write(generationPath.changes(1), firstChanges);
    const raw = async (operation: Operation, request: string) => {
      const received = await exchangeParsed(server.port, request);
      expect(answers.check(operation, operation.method, received), request.slice(0, 80)).toBeUndefined();
    };
    for (const operation of all) {
      const target = `${rootOf(operation)}${operation.address.replace(/\{\w+\}/g, 'x')}`;
      await ask(operation);
      await ask(operation, { headers: { 'if-none-match': '*' } });
      await ask(operation, { method: 'DELETE' });
      await ask(operation, { target: `${target}?${'x'.repeat(74_000)}` });
      await raw(operation, `${operation.method} ${target} HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n`);
      const coded = 'Transfer-Encoding: gzip, chunked';
      await raw(operation, `${operation.method} ${target} HTTP/1.1\r\nHost: a\r\n${coded}\r\n\r\n0\r\n\r\n`);
      const filler = `X-Filler: ${'a'.repeat(8000)}\r\n`.repeat(20);
      await raw(operation, `${operation.method} ${target} HTTP/1.1\r\nHost: a\r\n${filler}\r\n`);
      if (operation.address.includes('{')) await ask(operation, { target: target.replace('/x', '/none.of.these') });
    }
    await ask(operations.downloadIngest, { body: 'x', headers: { 'content-type': 'text/plain' } });
    await ask(operations.downloadIngest, { body: ' '.repeat(300_000) });
    // Its parameter is called otherwise where it is described.
    for (const id of ['odd.bare', 'none.of.these']) {
      const target = `/v2/jailbreak/package/${id}/dependencies?architecture=iphoneos-arm64`;
      await ask(operations.packageDependencies, { target });
    }
    // A request that does not end, all at once because each has to wait.
    await Promise.all(
      all.map((operation) =>
        raw(operation, `${operation.method} ${rootOf(operation)}${operation.address} HTTP/1.1\r\nHost: a\r\nX: `),
      ),
    );
    for (const next of ['limited', 'unavailable', 'broken'] as const) {
      mode = next;
      passed += 60_000;
      for (const operation of all) {
        clockFails = next === 'broken' && /^\/(?:health|live|ready)z$/.test(operation.address);
        await ask(operation);
      }
      await ask(operations.repositoryPackages, { target: '/v2/jailbreak/repository/odd/packages?page=1' });
    }
    mode = 'well';
    // The gateway's are reached where there is one (test/gateway/described.test.ts).
    const isGateway = (each: string) =>
      Object.values(gatewayOperations).some(({ address }) => each.includes(` ${address} `));
    expect([...answers.seen].sort()).toEqual([...answers.described].filter((each) => !isGateway(each)).sort());
  });
});
