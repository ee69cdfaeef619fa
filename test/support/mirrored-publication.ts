import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type MirrorOptions, type MirrorSummary, mirror } from '../../src/following/mirror.ts';
import { PublicationSource } from '../../src/following/source.ts';
import { createFetcher, type Fetcher } from '../../src/net/fetcher.ts';
import { FileOrigin } from './built-publication.ts';
import { temporaryFolder } from './folder.ts';
import { type Files, Publication } from './publication.ts';

export let origin: FileOrigin;
let fetcher: Fetcher;

/** Lets the tests of a file mirror publications that are served on loopback. */
export const useMirroredPublications = (): void => {
  beforeAll(async () => {
    origin = await new FileOrigin('').open();
    fetcher = createFetcher({ allowPrivateNetworks: true });
  });
  afterAll(async () => {
    await fetcher.close();
    await origin.close();
  });
};

/** Serves a new, empty publication. Returns it with a folder for its mirror. */
export const begin = (): { readonly publication: Publication; readonly folder: string } => {
  const publication = new Publication();
  origin.folder = publication.out;
  origin.intercept = undefined;
  return { publication, folder: path.join(temporaryFolder(), 'mirror') };
};

/** Mirrors what is served, without waiting. Afterwards `origin.asked` has the requests that it made. */
export const take = async (
  folder: string,
  { publicKey, ...options }: { publicKey?: string } & Pick<MirrorOptions, 'concurrency' | 'pause' | 'onRetry'> = {},
): Promise<MirrorSummary> => {
  origin.asked = [];
  const source = new PublicationSource(origin.address, fetcher, publicKey);
  return mirror({ source, folder, pause: async () => {}, ...options });
};

/** The files of a mirror, without those about generations. */
export const read = (folder: string): Files => Publication.filesIn(folder);

/** Answers with the first half of a file, and closes the connection. */
export const cut =
  (file: string) =>
  (response: ServerResponse): void => {
    const body = readFileSync(path.join(origin.folder, file));
    response.writeHead(200, { 'content-length': body.length });
    response.write(body.subarray(0, body.length / 2));
    setImmediate(() => response.destroy());
  };
