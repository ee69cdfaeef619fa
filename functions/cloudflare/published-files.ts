import { base64url } from 'jose';
import { fromHex } from '../../src/contract/hex.ts';
import { type Documents, Unavailable } from '../dependencies.ts';
import { join } from '../http/envelope-body.ts';
import type { Bucket, Fetching } from './platform.ts';

/** A published file as the platform hands it over. */
export interface PublishedFile {
  readonly size: number | undefined;
  /** The SHA-256 of its bytes in hex, where the platform knows it. */
  readonly sha256: string | undefined;
  /** An entity tag of the platform's own, with its quotes. */
  readonly etag: string | undefined;
  readonly body: ReadableStream<Uint8Array>;
}

/** Where published files are, by their paths below the output folder. */
export interface PublishedFiles {
  /** Undefined where there is none. Throws Unavailable. */
  read(path: string): Promise<PublishedFile | undefined>;
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

const sizeOf = ({ headers }: Response): number | undefined => {
  const written = headers.get('content-length');
  // If the platform decompressed the body, it has another size than the header states.
  return written === null || headers.has('content-encoding') ? undefined : Number(written);
};

const readResponse = async (response: Response, name: string): Promise<PublishedFile | undefined> => {
  if (response.status === 200 && response.body !== null) {
    const etag = response.headers.get('etag')?.replace(/^W\//, '');
    return { size: sizeOf(response), sha256: undefined, etag, body: response.body };
  }
  await response.body?.cancel();
  // A bucket that may not be listed answers 403 for a missing object.
  if ([403, 404, 410].includes(response.status)) return undefined;
  throw new Unavailable(`${name} answered ${response.status}`);
};

/** The files that were deployed with the Worker. */
export const deployedFiles = (assets: Fetching): PublishedFiles => ({
  read: async (path) => readResponse(await assets.fetch(new Request(`https://assets.invalid/${encoded(path)}`)), path),
});

/** Buckets have no names longer than this, in bytes, and fail if asked for one. */
const longestKey = 1024;

/** The files that `npm run upload` puts into a bucket. `prefix` ends with a slash, or is empty. */
export const bucketFiles = (bucket: Bucket, prefix: string): PublishedFiles => ({
  read: async (path) => {
    const key = prefix + path;
    if (new TextEncoder().encode(key).length > longestKey) return undefined;
    const found = await bucket.get(key);
    if (found === null) return undefined;
    const { size, httpEtag: etag, body, customMetadata } = found;
    return { size, sha256: customMetadata?.sha256, etag, body };
  },
});

/**
 * The longest time to read a whole file from another host, in milliseconds. Such files have a few megabytes at most.
 */
const longest = 60_000;

/** The files of a publication on the web. */
export const remoteFiles = (address: string): PublishedFiles => {
  const base = address.replace(/\/+$/, '');
  return {
    read: async (path) => {
      const url = `${base}/${encoded(path)}`;
      // A cache in between may still hold an old version of a file that names others.
      const headers = { 'cache-control': 'no-cache' };
      return readResponse(await fetch(url, { headers, signal: AbortSignal.timeout(longest) }), url);
    },
  };
};

const collect = async (file: PublishedFile, most: number): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of file.body) {
    size += piece.byteLength;
    if (size > most) return undefined;
    pieces.push(piece as Uint8Array<ArrayBuffer>);
  }
  return join(pieces);
};

/**
 * All bytes of a published file; undefined if there is none. Throws Unavailable, also if it has more than `most` bytes.
 */
export const readAll = async (
  files: PublishedFiles,
  path: string,
  most: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  try {
    const found = await files.read(path);
    if (found === undefined) return undefined;
    bytes = await collect(found, most);
  } catch (cause) {
    if (cause instanceof Unavailable) throw cause;
    // An error of the platform does not name the file.
    throw new Unavailable(`${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
  if (bytes === undefined) throw new Unavailable(`${path} has more than ${most} bytes`);
  return bytes;
};

/** The SHA-256 of some bytes. */
export const digestOf = async (bytes: Uint8Array<ArrayBuffer> | ArrayBuffer): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

const tagOf = (digest: Uint8Array): string => `"${base64url.encode(digest).slice(0, 22)}"`;

/** Files up to this size, in bytes, are held in memory while they are sent. */
const heldBytes = 256 * 1024;

/** A document with these bytes, under the entity tag that all of our hosts give it. */
export const documentOfBytes = async (body: Uint8Array<ArrayBuffer>) => ({
  etag: tagOf(await digestOf(body)),
  encoding: 'identity' as const,
  size: body.byteLength,
  body,
  open: async () => new Blob([body]).stream(),
});

/** The whole file, if it is small enough to be held, or a stream of all of it. */
const readStart = async ({ body }: PublishedFile): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> => {
  const reader = body.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; size <= heldBytes; ) {
    const { value } = await reader.read();
    if (value === undefined) return join(pieces);
    pieces.push(value as Uint8Array<ArrayBuffer>);
    size += value.byteLength;
  }
  return new ReadableStream({
    pull: async (controller) => {
      const piece = pieces.shift() ?? (await reader.read()).value;
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
    cancel: (reason) => reader.cancel(reason),
  });
};

/**
 * Published files as documents, uncompressed: the platform compresses what it sends. Their entity tags are the same on
 * every host, except for a large file of which the platform does not know the digest.
 */
export const publishedDocuments = (files: PublishedFiles): Documents => {
  const read = async (path: string) => {
    const found = await files.read(path);
    if (found === undefined) return undefined;
    const { size, sha256, etag } = found;
    const tag = sha256 === undefined ? etag : tagOf(fromHex(sha256));
    const large = (open: ReadableStream<Uint8Array>, etag: string) => ({
      ...{ etag, encoding: 'identity' as const, size, body: undefined },
      open: async () => open,
    });
    if (tag === undefined) {
      const body = await collect(found, Number.POSITIVE_INFINITY);
      return body && documentOfBytes(body);
    }
    if (size !== undefined && size > heldBytes) return large(found.body, tag);
    // Static assets come without their size. A few large ones, held completely at the same time, would exceed the
    // memory of an isolate.
    const start = await readStart(found);
    return start instanceof ReadableStream ? large(start, tag) : documentOfBytes(start);
  };
  return {
    // Any error of the platform means that it is away or overloaded, and that the client should come again.
    read: (path) =>
      read(path).catch((cause: unknown) => {
        throw new Unavailable(`${path} cannot be read`, { cause });
      }),
  };
};
