import { expect, it } from 'vitest';
import { Client, type SearchOptions } from '../../clients/typescript/src/index.ts';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { writtenName } from '../../src/contract/parameters.ts';
import { operations } from '../../src/contract/paths.ts';

interface Described {
  readonly id: string;
  readonly method: string;
  readonly address: string;
}

const base = 'https://index.test';
const answered = { data: [], refs: {}, number: 1, packages: [{ package_id: 'p' }] };

/** The operations of a description, but for those that a program of this kind does not ask for. */
const describedIn = (staticRefs: boolean): Described[] => {
  const { paths } = createOpenApi({ publicAddress: base, version: '', staticRefs }) as {
    paths: Record<string, Record<string, { operationId: string; tags: readonly string[] }>>;
  };
  return Object.entries(paths).flatMap(([address, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId: id, tags = [] }]) =>
      id === undefined || tags.some((tag) => tag in otherPrograms) || id in leftOut ? [] : [{ id, method, address }],
    ),
  );
};

/** Tags of operations that other programs ask for. */
const otherPrograms: Readonly<Record<string, string>> = {
  feed: 'feed readers',
  badge: 'whoever shows a README',
  gateway: 'package managers, for credentials that this client never holds',
};

/** Operations without a method, and why. */
const leftOut: Readonly<Record<string, string>> = {
  liveness: 'for what runs the service; `health` is the same for people',
  readiness: 'for what runs the service; `health` is the same for people',
  openapiYaml: 'what `description` answers, written otherwise',
  repositoryPackagesPage:
    'what `repositoryPackages` asks for by limit and page, or as a whole where files alone answer',
  repositoryPackagesPageDocument: 'what `repositoryPackages` asks for as a whole',
};

/** Calls every method that the client has, in one way each. */
const everyCall: Readonly<Record<string, (client: Client) => unknown>> = {
  landing: (client) => client.landing(),
  health: (client) => client.health(),
  status: (client) => client.status(),
  description: (client) => client.description(),
  package: (client) => client.package('p'),
  latest: (client) => client.latest(['p']),
  dependencies: (client) => client.dependencies('p', { architecture: 'a' }),
  searchPackages: (client) => client.searchPackages('pp').next(),
  repository: (client) => client.repository('r'),
  repositories: (client) => client.repositories(),
  repositoryPackages: (client) => client.repositoryPackages('r').next(),
  findings: (client) => client.findings('r'),
  divergences: (client) => client.divergences(),
  searchRepositories: (client) => client.searchRepositories('rr').next(),
  safety: (client) => client.safety(['https://r.example/']),
  downloads: (client) => client.downloads('p'),
  downloadTotals: (client) => client.downloadTotals(),
  reportDownloads: (client) => client.reportDownloads([]),
  generation: (client) => client.generation(),
  changes: (client) => client.changes({ since: 1 }).next(),
  follow: (client) => client.follow({ since: 0 }).next(),
};

/** What all calls ask for, as methods and paths below `/v2`. */
const askAll = async (files: boolean): Promise<string[]> => {
  const asked: string[] = [];
  const recording: typeof fetch = async (address, init) => {
    asked.push(`${(init?.method ?? 'GET').toLowerCase()} ${new URL(String(address)).pathname.replace(/^\/v2/, '')}`);
    return Response.json(answered);
  };
  const client = new Client({ base, files, fetch: recording, retries: 0 });
  // What no file answers is refused, and asks for nothing.
  for (const call of Object.values(everyCall)) await Promise.resolve(call(client)).catch(() => {});
  return asked;
};

/** Of several addresses that fit, one that is written out is meant. */
const findOperation = (operations: readonly Described[], asked: string): string | undefined => {
  const fits = ({ method, address }: Described) =>
    new RegExp(`^${method} ${address.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(asked);
  const written = operations.find(({ method, address }) => `${method} ${address}` === asked);
  return (written ?? operations.find(fits))?.id;
};

it.each([
  ['a server', false],
  ['a host of files alone', true],
])('H5: the client has a method for every operation of %s', async (_what, files) => {
  const operations = describedIn(files).filter(({ id }) => files || !id.endsWith('Document'));
  expect(operations.length).toBeGreaterThan(8);
  const asked = await askAll(files);
  const reached = new Set(asked.map((one) => findOperation(operations, one)));
  expect(operations.map(({ id }) => id).filter((id) => !reached.has(id))).toEqual([]);
});

it('H5: every method of the client is among them', () => {
  const methods = Object.getOwnPropertyNames(Client.prototype).filter((name) => name !== 'constructor');
  expect(Object.keys(everyCall).sort()).toEqual(methods.sort());
});

it('H5: what has no method is an operation', () => {
  const { paths, tags } = createOpenApi({ publicAddress: base, version: '' }) as {
    paths: object;
    tags: readonly { name: string }[];
  };
  const ids = new Set([...JSON.stringify(paths).matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id));
  expect(Object.keys(leftOut).filter((id) => !ids.has(id))).toEqual([]);
  expect(Object.keys(otherPrograms).filter((tag) => !tags.some(({ name }) => name === tag))).toEqual([]);
});

it('H5: the client narrows and orders a search of packages by whatever the service does', async () => {
  let asked: string[] = [];
  const recording: typeof fetch = async (address) => {
    asked = [...new URL(String(address)).searchParams.keys()];
    return Response.json(answered);
  };
  const all: Required<Omit<SearchOptions, 'signal'>> = {
    limit: 1,
    architecture: 'iphoneos-arm64',
    firmware: '16.7',
    section: 'Tweaks',
    repository: 'chariz',
    price: 'Free',
    kind: 'tweaks',
    state: 'current',
    sort: 'newest',
  };
  await new Client({ base, fetch: recording }).searchPackages('snow', all).next();
  expect(asked.sort()).toEqual(operations.packageSearch.query.map(writtenName).sort());
});
