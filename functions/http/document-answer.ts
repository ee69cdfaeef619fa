import { closedHeaders, openHeaders } from '../../src/contract/answer-headers.ts';
import { cacheControlOf, contentTypeOf, isCompressible, isOpenFile } from '../../src/contract/file-headers.ts';
import { type Dependencies, type StoredDocument, Unavailable } from '../dependencies.ts';
import { chooseEncoding, type Encoding } from './accept-header.ts';
import { matchesEntityTag, notModifiedHeaders } from './conditional.ts';

const documentHeaders = (
  path: string,
  document: StoredDocument,
  vary: readonly string[],
  cache: string | undefined,
): Record<string, string> => {
  const contentType = contentTypeOf(path);
  const varies = isCompressible(contentType) ? [...vary, 'Accept-Encoding'] : vary;
  return {
    'Content-Type': contentType,
    ...(document.size === undefined ? {} : { 'Content-Length': String(document.size) }),
    ETag: document.etag,
    'Cache-Control': cache ?? cacheControlOf(path),
    ...(document.encoding === 'identity' ? {} : { 'Content-Encoding': document.encoding }),
    ...(varies.length > 0 ? { Vary: varies.join(', ') } : {}),
    ...(isOpenFile(path) ? openHeaders : closedHeaders),
  };
};

interface DocumentOptions {
  readonly status?: number;
  /** What the choice of this document depended on, besides the coding. */
  readonly vary?: readonly string[];
  /** Cache-Control, if it is not the usual one for the path. */
  readonly cache?: string;
}

/**
 * The answer with a published file, for GET and HEAD: 200, or 304 if the client has it. Undefined if there is no such
 * file.
 */
export const documentAnswer = async (
  request: Request,
  { documents }: Pick<Dependencies, 'documents'>,
  path: string,
  { status = 200, vary = [], cache }: DocumentOptions = {},
): Promise<Response | undefined> => {
  const encoding: Encoding = isCompressible(contentTypeOf(path))
    ? chooseEncoding(request.headers.get('accept-encoding') ?? undefined)
    : 'identity';
  // The file may be replaced after it was described and before it is opened. Then it is described again.
  for (let attempt = 0; attempt < 5; attempt++) {
    const document = await documents.read(path, encoding);
    if (document === undefined) return undefined;
    const headers = documentHeaders(path, document, vary, cache);
    if (status === 200 && matchesEntityTag(request.headers.get('if-none-match') ?? undefined, document.etag)) {
      return new Response(null, { status: 304, headers: notModifiedHeaders(headers) });
    }
    if (request.method === 'HEAD') return new Response(null, { status, headers });
    if (document.body !== undefined) return new Response(document.body as Uint8Array<ArrayBuffer>, { status, headers });
    const stream = await document.open();
    if (stream !== undefined) return new Response(stream, { status, headers });
  }
  throw new Unavailable(`${path} is being replaced too often`);
};
