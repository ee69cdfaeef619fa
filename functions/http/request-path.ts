import { emptySegment } from '../../src/contract/errors.ts';
import { gatewayWords } from '../../src/contract/gateway-schemas.ts';
import { apiRoot } from '../../src/contract/paths.ts';
import { longestSegment } from '../../src/contract/public-addresses.ts';

const utf8 = new TextEncoder();

/** The path of an absolute URL as it was sent, still percent-encoded, without query and fragment. */
export const pathOf = (url: string): string => {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  if (start < 0) return '/';
  const end = url.slice(start).search(/[?#]/);
  return end < 0 ? url.slice(start) : url.slice(start, start + end);
};

/**
 * The path by which a request is routed: decoded, except for encoded separators. A path that cannot be decoded stays as
 * it is and is refused afterwards. Routers decode as much as possible, but that costs an exception for each of
 * thousands of broken characters (H7).
 */
export const routedPath = ({ url }: Pick<Request, 'url'>): string => {
  const path = pathOf(url);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path.replaceAll('%25', '%2525'));
  } catch {
    return path;
  }
};

const gatewayPath = new RegExp(`^/${apiRoot}/(?:${gatewayWords.join('|')})(?:/|$)`);

/** Whether an absolute URL is one of the gateway's addresses. */
export const isOfGateway = (url: string): boolean => gatewayPath.test(routedPath({ url }));

/**
 * The decoded segments of a path, or a sentence that says what is wrong with it. Only the last segment may be empty,
 * because the path may end with a slash.
 */
export const decodePath = (path: string): string[] | string => {
  const segments: string[] = [];
  const parts = path.split('/').slice(1);
  for (const [index, part] of parts.entries()) {
    if (part === '' && index < parts.length - 1) return emptySegment;
    let segment = part;
    if (part.includes('%')) {
      try {
        segment = decodeURIComponent(part);
      } catch {
        return 'The path must be percent-encoded UTF-8';
      }
    }
    if (/\p{Cc}/u.test(segment)) return 'The path must not hold control characters';
    if (segment.length * 3 > longestSegment && utf8.encode(segment).length > longestSegment) {
      return `A segment of the path must be at most ${longestSegment} bytes`;
    }
    segments.push(segment);
  }
  return segments;
};
