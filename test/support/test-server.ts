import path from 'node:path';
import { createApp } from '../../functions/app.ts';
import type { Dependencies, OlderIndex, SearchIndex } from '../../functions/dependencies.ts';
import { createLargeAnswers } from '../../functions/http/large-answers.ts';
import { compressBytes, createCompressedFiles } from '../../functions/node/compression.ts';
import { createDocuments } from '../../functions/node/document-files.ts';
import { createDownloads } from '../../functions/node/download-counters.ts';
import type { ServerLimits } from '../../functions/node/limits.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../functions/node/server.ts';
import { createTurns } from '../../functions/node/turns.ts';
import { createQuestions } from '../../functions/questions.ts';
import type { OlderPackage, OlderRepository } from '../../src/contract/older-addresses/records.ts';
import { createSafetyList } from '../../src/safety/safety-list.ts';
import { lastPage } from '../../src/search/package-search.ts';
import { type Published, packageRecord, publish, repositoryRecord, testAddress } from './published.ts';

/** A search index over these identifiers. It finds those that contain the text, in alphabetical order. */
export const fakeSearch = (ids: readonly string[]): SearchIndex => {
  const list = (records: readonly unknown[]) => ({
    count: records.length,
    pieces: [records.map((record) => JSON.stringify(record)).join(',')],
  });
  const page = (found: readonly unknown[], limit: number, number: number) => ({
    records: list(found.slice((number - 1) * limit, number * limit)),
    more: found.length > number * limit,
    last: lastPage(found.length, limit),
  });
  return {
    searchPackages: async (q, limit, number) =>
      page(
        ids.filter((id) => id.includes(q)).map((id) => packageRecord(id)),
        limit,
        number,
      ),
    searchRepositories: async (q, limit, number) =>
      page(
        ['sample'].filter((slug) => slug.includes(q)).map((slug) => repositoryRecord(slug)),
        limit,
        number,
      ),
    repositoryPackages: async (slug, limit, number) =>
      slug === 'sample'
        ? page(
            ids.map((id) => packageRecord(id)),
            limit,
            number,
          )
        : undefined,
    latest: async (asked) => list(asked.filter((id) => ids.includes(id)).map((id) => packageRecord(id))),
    known: async (versions) =>
      versions.filter(({ package_id, package_version }) => ids.includes(package_id) && package_version === '1.0'),
    knows: async (id) => ids.includes(id),
    dependencies: async () => undefined,
    probe: async () => true,
  };
};

/** The same for addresses from before /v2. */
const fakeOlder = (ids: readonly string[]): OlderIndex => {
  const repository: OlderRepository = {
    slug: 'sample',
    aliases: [],
    uri: 'https://sample.test/',
    version: null,
    suite: './',
    component: null,
    ranking: 3,
    name: 'Sample',
  };
  const toPackage = (identifier: string): OlderPackage => ({
    identifier,
    architecture: 'iphoneos-arm64',
    price: 'Free',
    latestVersion: '1.0',
    name: identifier,
    description: null,
    author: null,
    maintainer: null,
    depiction: null,
    nativeDepiction: null,
    header: null,
    tintColor: null,
    packageIcon: 'https://sample.test/icon.png',
    section: null,
    repository,
  });
  return {
    packages: async (text, limit) =>
      ids
        .filter((id) => id.includes(text))
        .slice(0, limit)
        .map(toPackage),
    latest: async (asked) => asked.filter((id) => ids.includes(id)).map(toPackage),
    repositories: async (text) => (repository.slug.includes(text) ? [repository] : []),
  };
};

/** A real server on loopback, over a published folder of its own. */
export interface TestServer extends Published {
  readonly port: number;
  readonly address: string;
  /** The errors that the server reported as its own. */
  readonly faults: unknown[];
  readonly dependencies: Dependencies;
  /** How often each limit was reached. */
  readonly refusals: RunningServer['refusals'];
  readonly held: RunningServer['held'];
  readonly leave: RunningServer['leave'];
  close(): Promise<void>;
}

/** Starts a server in which only the search index is not real; `overrides` replace single dependencies. */
export const startTestServer = async (
  options: {
    ids?: readonly string[];
    /** Served instead of a folder with these identifiers; removed together with the server. */
    published?: Published;
    overrides?: Partial<Dependencies>;
    trustedProxies?: number;
    limits?: Partial<ServerLimits>;
    onChange?: () => void;
    /** Bytes of memory for computed answers. */
    answerMemory?: number;
    onAnswered?: ServerOptions['onAnswered'];
    namesEveryRequest?: boolean;
    basePath?: () => string;
  } = {},
): Promise<TestServer> => {
  const { ids = ['com.example.one', 'com.example.two'], overrides = {}, trustedProxies = 0 } = options;
  const published = options.published ?? publish(ids);
  const faults: unknown[] = [];
  const now = overrides.now ?? (() => new Date());
  const downloads = createDownloads(path.join(published.state, 'downloads.sqlite'), now, { taskTimeout: 10_000 });
  const dependencies: Dependencies = {
    documents: createDocuments({
      folder: published.folder,
      compressed: createCompressedFiles(path.join(published.state, 'compressed')),
      memory: 16 * 2 ** 20,
    }),
    search: fakeSearch(ids),
    older: fakeOlder(ids),
    safety: createSafetyList([
      {
        host: 'unsafe.test',
        reason: 'Listed for the tests.',
        date: '2026-05-01',
        source: 'https://source.test/',
      },
    ]),
    downloads,
    limiter: { take: () => 0 },
    turns: createTurns(),
    probeCredentials: async () => true,
    now,
    publicAddress: () => testAddress,
    compress: (body, encoding) => compressBytes(body, encoding, 'computed'),
    report: (error) => faults.push(error),
    ...overrides,
  };
  const makeAnswer = createLargeAnswers();
  const server: RunningServer = await startServer({
    app: createApp(dependencies, makeAnswer),
    questions: createQuestions(dependencies, makeAnswer),
    host: '127.0.0.1',
    port: 0,
    now,
    trustedProxies,
    limiter: dependencies.limiter,
    answerMemory: options.answerMemory ?? 0,
    stamp: path.join(published.state, 'generation.json'),
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.onAnswered ? { onAnswered: options.onAnswered } : {}),
    ...(options.namesEveryRequest ? { namesEveryRequest: true } : {}),
    ...(options.basePath ? { basePath: options.basePath } : {}),
    ...(options.onChange ? { onChange: options.onChange } : {}),
  });
  return {
    ...published,
    port: server.port,
    address: `http://127.0.0.1:${server.port}`,
    faults,
    dependencies,
    refusals: server.refusals,
    held: server.held,
    leave: server.leave,
    close: async () => {
      await server.close();
      await downloads.close();
      published.remove();
    },
  };
};
