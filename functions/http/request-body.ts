import { HttpError } from './answers.ts';
import type { Room } from './rooms.ts';

const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Throws an HttpError (415) for a compressed body: as it stands it is unreadable, and decompressed it may have any
 * size.
 */
export const refuseCompressed = (request: Request): void => {
  const coding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  if (coding !== 'identity') throw new HttpError(415, 'The body must not be compressed (Content-Encoding)');
};

/**
 * In bytes: the first buffer for a body, and the size up to which it takes no room, because every connection may have
 * one.
 */
const [firstBytes, smallBytes] = [1024, 8 * 1024];

/**
 * Reads the bytes of a body. Throws an HttpError (413) if there are, or are said to be, more than `most`. A body that
 * is not small takes room, and throws what that throws.
 */
export const readBytes = async (request: Request, most: number, room?: Pick<Room, 'take'>): Promise<Uint8Array> => {
  const tooLarge = () => new HttpError(413, `The body must be at most ${most} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge();
  // One buffer, because a body may arrive byte by byte, and each piece would take a hundred times its size.
  let bytes = new Uint8Array(firstBytes);
  let size = 0;
  for await (const chunk of request.body ?? []) {
    const end = size + chunk.byteLength;
    if (end > most) throw tooLarge();
    if (end > bytes.length) {
      const capacity = Math.min(most, 2 * end);
      if (capacity > smallBytes) room?.take(capacity - bytes.length);
      const larger = new Uint8Array(capacity);
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes.set(chunk, size);
    size = end;
  }
  return bytes.subarray(0, size);
};

/**
 * Reads the JSON value in the body of a request. Throws an HttpError: 415 if the body is compressed or has another
 * content type, 413 if it is larger than `most` bytes, 400 if it is not JSON in UTF-8. Also throws what `room` throws.
 */
export const readJson = async (request: Request, most: number, room?: Pick<Room, 'take'>): Promise<unknown> => {
  const type = request.headers.get('content-type');
  if (type !== null && !jsonType.test(type)) throw new HttpError(415, 'The body must be JSON (application/json)');
  refuseCompressed(request);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readBytes(request, most, room)));
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'The body must be JSON in UTF-8');
  }
};
