import { hash } from 'node:crypto';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { safetyFile } from '../../functions/node/safety-file.ts';
import { bundleFetch } from '../../scripts/bundling/bundle-fetch.ts';
import type { BuiltPublication, FileOrigin } from './built-publication.ts';
import { startEdge } from './edge.ts';
import type { EdgeBundle } from './edge-runtime.ts';
import { findProgram } from './find-program.ts';
import { temporaryFolder } from './folder.ts';
import { type Ask, askFetch, askLambda, startRuntime } from './read-hosts.ts';
import { startReplicaServer } from './replica-server.ts';
import { openConnections } from './wire.ts';

/** What hosts serve. */
interface HostedPublication {
  readonly publication: BuiltPublication;
  /** A static host of it. */
  readonly origin: FileOrigin;
  readonly bundle: EdgeBundle;
}

/** A host of the function, and how it differs from the server of the build. */
export interface HostUnderTest {
  readonly name: string;
  /**
   * Whether it serves the build's pages and files. A replica generates documents from the catalog and redirects
   * requests for pages.
   */
  readonly hasPages: boolean;
  /** Whether a layer in front of it compresses, and handles the headers for that. */
  readonly compresses: boolean;
  /** Whether tests call it with Request objects, which do not support TRACE. */
  readonly isAskedByRequest?: boolean;
  /** Whether it does not read a large file again for its digest, so that its entity tag differs. */
  readonly hasOtherTags?: boolean;
  /**
   * Whether another host runs the same program and gets all questions. This one only gets those whose answers depend on
   * where files are read.
   */
  readonly isProgramOfAnother?: boolean;
  /** Starts it until the test ends; undefined if its runtime is not available here. */
  start(hosted: HostedPublication): Promise<Ask | undefined>;
}

// A connection may be closed because of its age while a request is sent.
const askPort = (port: number): Ask => {
  const { send, close } = openConnections(port);
  onTestFinished(close);
  return (sent) => send(sent).catch(() => send(sent));
};

const portOf = ({ address }: { readonly address: string }): number => Number(new URL(address).port);

const startWorker = async ({ bundle }: HostedPublication, options: Parameters<typeof startEdge>[1]) => {
  // Off, as on the other hosts, because each of them would only count a part.
  const variables = { COUNT_DOWNLOADS: 'off', ...options.variables };
  const edge = await startEdge(bundle, { ...options, variables });
  onTestFinished(() => expect(edge.lines.filter(({ event }) => event !== 'generation-taken')).toEqual([]));
  return edge;
};

/** Starts a bundle for another runtime if that is available here. */
const startBundled = async (
  { publication }: HostedPublication,
  name: 'deno' | 'bun',
  parametersOf: (module: string) => string[],
): Promise<Ask | undefined> => {
  const file = process.env[`DEBDEX_${name.toUpperCase()}`] ?? findProgram(name);
  if (file === undefined) return undefined;
  const folder = path.join(temporaryFolder(), 'fetch');
  await bundleFetch(folder);
  return askPort(await startRuntime(publication, file, parametersOf(path.join(folder, `${name}.mjs`))));
};

/** Every host except the server of the build. */
export const hosts: readonly HostUnderTest[] = [
  {
    name: 'the fetch handler',
    hasPages: true,
    compresses: false,
    isAskedByRequest: true,
    start: async ({ publication }) => askFetch(publication),
  },
  {
    name: 'AWS Lambda, by events',
    hasPages: true,
    compresses: false,
    isAskedByRequest: true,
    start: async ({ publication }) => askLambda(publication),
  },
  {
    name: 'Deno',
    hasPages: true,
    compresses: false,
    start: (hosted) =>
      // Below /dev, where temporary files are in memory, any smaller permission does not allow it to read.
      startBundled(hosted, 'deno', (module) => ['serve', '--host', '127.0.0.1', '--port', '0', '--allow-all', module]),
  },
  {
    name: 'Bun',
    hasPages: true,
    compresses: false,
    start: (hosted) => startBundled(hosted, 'bun', (module) => [module]),
  },
  {
    name: 'a replica on Node',
    hasPages: false,
    compresses: false,
    start: async (hosted) => {
      const replica = await startReplicaServer(hosted.origin.address, { safetyList: safetyFile });
      await replica.until(1);
      return askPort(replica.port);
    },
  },
  {
    name: 'workerd, as a replica',
    isProgramOfAnother: true,
    hasPages: false,
    compresses: true,
    hasOtherTags: true,
    start: async (hosted) => {
      const edge = await startWorker(hosted, { source: { address: hosted.origin.address } });
      await edge.until(1);
      return askPort(portOf(edge));
    },
  },
  {
    name: 'workerd, with what was deployed',
    isProgramOfAnother: true,
    hasPages: true,
    compresses: true,
    hasOtherTags: true,
    start: async (hosted) => {
      const assets = path.join(temporaryFolder(), 'public');
      cpSync(hosted.publication.folder, assets, {
        recursive: true,
        // Without files of unfinished builds. The document of a package called "." begins with two dots.
        filter: (file) => !/^\.[^.]/.test(path.basename(file)),
      });
      const edge = await startWorker(hosted, { source: { assets } });
      await edge.until(1);
      return askPort(portOf(edge));
    },
  },
  {
    name: 'workerd, with a bucket',
    hasPages: true,
    compresses: true,
    start: async (hosted) => {
      const edge = await startWorker(hosted, { source: { bucket: true }, variables: { PREFIX: 'a/b' } });
      const put = (file: string) => {
        const bytes = hosted.publication.read(file);
        return edge.put(`a/b/${file}`, bytes, hash('sha256', bytes));
      };
      const files = hosted.publication.files(true);
      for (let at = 0; at < files.length; at += 32) await Promise.all(files.slice(at, at + 32).map(put));
      await edge.until(1);
      return askPort(portOf(edge));
    },
  },
];
