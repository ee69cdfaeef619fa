import { HttpError } from './answers.ts';

const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * The JSON value in the body of a request. Throws an HttpError: 415 where the body says it is something else or compressed, 413 where
 * it is larger than `most` bytes, 400 where it is not JSON in UTF-8.
 */
export const readJson = async (request: Request, most: number): Promise<unknown> => {
  const type = request.headers.get('content-type');
  if (type !== null && !jsonType.test(type)) throw new HttpError(415, 'The body must be JSON (application/json)');
  const coding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  if (coding !== 'identity') throw new HttpError(415, 'The body must not be compressed (Content-Encoding)');
  const tooLarge = () => new HttpError(413, `The body must be at most ${most} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > most) throw tooLarge();
      text += decoder.decode(chunk, { stream: true });
    }
    return JSON.parse(text + decoder.decode());
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'The body must be JSON in UTF-8');
  }
};
