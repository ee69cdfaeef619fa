// A request that consists of a line and a few headers, as programs send by the thousand for documents. It is read here
// without the HTTP parser, which makes some dozen objects for each. This accepts a strict subset of what the parser
// accepts, and reads it in the same way. Everything else is left to the parser, right or wrong: a body, another method,
// a repeated header that may occur once, a byte that is not visible ASCII.

/** The headers that matter to a ready answer or to an observer. */
export interface PlainHeaders {
  readonly 'accept-encoding'?: string;
  readonly 'if-none-match'?: string;
  readonly 'user-agent'?: string;
  readonly 'x-forwarded-for'?: string;
  readonly 'x-request-id'?: string;
}

/** A GET without a body on a connection that stays open. */
export interface PlainRequest {
  readonly target: string;
  readonly headers: PlainHeaders;
}

const read: ReadonlySet<string> = new Set<keyof PlainHeaders>([
  'accept-encoding',
  'if-none-match',
  'user-agent',
  'x-forwarded-for',
  'x-request-id',
]);
// Headers that announce more than a head, or another use of the connection (RFC 9110 and 9112).
const telling: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'proxy-connection',
  'http2-settings',
]);

const lineEnd = '\r\n';
const method = 'GET ';
const version = ' HTTP/1.1';
// A field is a token, a colon, and visible ASCII with blanks (RFC 9110, section 5.5). Blanks around the value are
// trimmed afterwards: a pattern for that would try every way to divide a run of blanks between its parts.
const field = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e]*)$/;
// A "#" has to be escaped before it is read (request-target.ts).
const target = /^\/[\x21\x22\x24-\x7e]*$/;

const parseHeaders = (block: string, most: number, isHost: (host: string) => boolean): PlainHeaders | undefined => {
  const lines = block.split(lineEnd);
  // The head ends with an empty line.
  if (lines.pop() !== '' || lines.pop() !== '' || lines.length > most) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, written, rest] = field.exec(line) ?? [];
    if (written === undefined || rest === undefined) return undefined;
    const value = rest.trim();
    const name = written.toLowerCase();
    if (telling.has(name)) return undefined;
    if (name === 'connection' && value.toLowerCase() !== 'keep-alive') return undefined;
    if (name !== 'host' && !read.has(name)) continue;
    if (Object.hasOwn(headers, name)) return undefined;
    headers[name] = value;
  }
  return headers.host !== undefined && isHost(headers.host) ? headers : undefined;
};

// How many blocks of headers are remembered: a client sends the same ones with each request, so they are parsed once.
// Headers with an entity tag differ each time, and long ones would fill the memory, as would the heads that they are a
// part of.
const mostBlocks = 256;
const longestBlock = 1024;
const longestHead = 2048;

/** Limits of what is read, and which hosts may be named. */
export interface PlainRequestOptions {
  /** The most headers. */
  readonly headerCount: number;
  readonly isHost: (host: string) => boolean;
}

/**
 * Returns a function that reads whole heads (one character for each byte, including the empty line). It returns
 * undefined for a head that is not plain.
 */
export const createPlainRequests = ({ headerCount, isHost }: PlainRequestOptions) => {
  const blocks = new Map<string, PlainHeaders | null>();

  const readHeaders = (block: string, isKept: boolean): PlainHeaders | undefined => {
    const known = blocks.get(block);
    if (known !== undefined) return known ?? undefined;
    const headers = parseHeaders(block, headerCount, isHost);
    if (isKept && block.length <= longestBlock && headers?.['if-none-match'] === undefined) {
      if (blocks.size >= mostBlocks) blocks.clear();
      blocks.set(block, headers ?? null);
    }
    return headers;
  };

  return (head: string): PlainRequest | undefined => {
    const end = head.indexOf(lineEnd);
    if (!head.startsWith(method) || !head.startsWith(version, end - version.length)) return undefined;
    const asked = head.slice(method.length, end - version.length);
    if (!target.test(asked)) return undefined;
    const headers = readHeaders(head.slice(end + lineEnd.length), head.length <= longestHead);
    return headers && { target: asked, headers };
  };
};
