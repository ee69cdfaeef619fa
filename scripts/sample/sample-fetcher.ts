import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../src/apt/checksums.ts';
import type { Fetcher, FetchResult } from '../../src/net/fetcher.ts';
import { NetworkError } from '../../src/net/network-error.ts';

async function* chunks(content: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  if (content.length > 0) yield content;
}

const answer = (
  url: URL,
  status: number,
  etag: string | null,
  content: Uint8Array = new Uint8Array(),
): FetchResult => ({
  status,
  url,
  permanentUrl: url,
  etag,
  lastModified: null,
  retryAfter: null,
  contentEncoding: null,
  framed: true,
  body: chunks(content),
  discard: async () => {},
});

/**
 * A fetcher that answers from files and opens no socket. An address below `base` (which ends in a slash) is the file
 * with that path below `folder`, if it is among `paths`. The ETag is the file's hash. Every other address is 404.
 */
export const createFileFetcher = (base: string, folder: string, paths: Iterable<string>): Fetcher => {
  const known = new Map([...paths].map((path) => [new URL(path, base).href, join(folder, path)]));
  return {
    async fetch(url, { etag, maxBytes, signal, onRequest }) {
      if (signal?.aborted) throw new NetworkError('aborted', `${url} was given up`, { cause: signal.reason });
      onRequest?.(url);
      const path = known.get(url.href);
      if (path === undefined) return answer(url, 404, null);
      const content = await readFile(path);
      const tag = `"${sha256Hex(content)}"`;
      if (etag === tag) return answer(url, 304, tag);
      if (content.length > maxBytes) {
        throw new NetworkError('too-large', `${url} has ${content.length} bytes, more than ${maxBytes}`);
      }
      return answer(url, 200, tag, content);
    },
    close: async () => {},
  };
};
