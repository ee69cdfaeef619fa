import { expect, it } from 'vitest';
import { createApp } from '../../functions/app.ts';
import type { Dependencies } from '../../functions/dependencies.ts';
import { documentPath, type Operation, type OperationName, operations } from '../../src/contract/paths.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';

// Another host is a set of dependencies and no more. This one has no files, no sockets and no module of Node: all it
// publishes is in memory.

const date = '2026-05-01T12:00:00.000Z';
const published: Readonly<Record<string, string>> = {
  'v2/index.json': `{"message":"200 Successful","date":"${date}","data":{}}`,
  'v2/openapi.json': '{"openapi":"3.1.0"}',
  [documentPath.status]: `{"message":"200 Successful","date":"${date}","data":{"builds":[],"repositories":[]}}`,
  [documentPath.divergences]: `{"message":"200 Successful","date":"${date}","data":{"pairs":[],"changed":[]}}`,
  [documentPath.downloads]: `{"message":"200 Successful","date":"${date}","count":0,"data":[]}`,
  'v2/openapi.yaml': 'openapi: 3.1.0\n',
  [documentPath.package('a')]: `{"message":"200 Successful","date":"${date}","count":0,"data":[]}`,
  [documentPath.repository('r')]: `{"message":"200 Successful","date":"${date}","data":{}}`,
  [documentPath.repositoryPackagesPage('r', 1)]:
    `{"message":"200 Successful","date":"${date}","refs":{},"count":0,"data":[]}`,
  [documentPath.repositoryPackages('r')]: `{"message":"200 Successful","date":"${date}","count":0,"data":[]}`,
  [documentPath.repositoryFindings('r')]: `{"message":"200 Successful","date":"${date}","data":{}}`,
  [documentPath.ranking('*')]: `{"message":"200 Successful","date":"${date}","count":0,"data":[]}`,
};

const records = { count: 1, pieces: ['{"package_id":"a"}'] };
const page = async () => ({ records, more: false, last: 1 });

const host: Dependencies = {
  documents: {
    read: async (path) => {
      const text = published[path];
      if (text === undefined) return undefined;
      const body = new TextEncoder().encode(text);
      return { etag: `"${path}"`, encoding: 'identity', size: body.length, body, open: async () => undefined };
    },
  },
  search: {
    searchPackages: page,
    searchRepositories: page,
    repositoryPackages: page,
    latest: async () => records,
    known: async (versions) => [...versions],
    knows: async () => true,
    dependencies: async () => ['{}'],
    probe: async () => true,
  },
  safety: createSafetyList([]),
  downloads: {
    add: async (downloads) => downloads.length,
    read: async () => ({ package_id: 'a', total: 0, last_30_days: 0, days: [] }) as never,
    probe: async () => true,
  },
  limiter: { take: () => 0 },
  probeCredentials: async () => true,
  now: () => new Date(date),
  publicAddress: () => 'https://other.test',
  report: (error) => {
    throw error;
  },
};

const values: Readonly<Record<string, string>> = { packageId: 'a', repositorySlug: 'r', pageNumber: '1' };
const query: Partial<Record<OperationName, string>> = {
  packageSearch: '?q=ab',
  packageMulti: '?ids=a',
  packageDependencies: '?architecture=a',
  repositoryRanking: '?rank=*',
  repositorySearch: '?q=ab',
  repositorySafety: '?uris=https://a.test',
};
const bodies: Partial<Record<OperationName, string>> = {
  downloadIngest: JSON.stringify([
    {
      package_id: 'a',
      package_version: '1',
      package_author: 'b',
      repository_uri: 'https://r.test/',
      repository_suite: './',
    },
  ]),
};

it.each(Object.entries(operations) as [OperationName, Operation][])(
  'H1 another host answers %s',
  async (name, { address, method }) => {
    const path = address.replaceAll(/\{(\w+)\}/g, (_, each: string) => values[each] ?? '');
    const body = bodies[name];
    const request = new Request(`https://other.test/v2${path}${query[name] ?? ''}`, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'Content-Type': 'application/json' } }),
    });
    const answer = await createApp(host).fetch(request);
    const text = await answer.text();
    // The probes look for more than this host has.
    expect([answer.status, text], text).toEqual([name === 'health' || name === 'readiness' ? 503 : 200, text]);
  },
);
