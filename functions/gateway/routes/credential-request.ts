import type { z } from 'zod';
import { HttpError } from '../../http/answers.ts';
import { readBytes, refuseCompressed } from '../../http/request-body.ts';

/** The largest body that the gateway reads, in bytes (decisions, section 6). */
const bodyMaximum = 8 * 1024;

/**
 * Reads a JSON body with a schema of string fields. Throws an HttpError: 415 for another content type, 413 above 8 KiB,
 * 400 if it is no JSON object in UTF-8 or ends too early, and for missing, unknown, repeated or mistyped fields.
 */
export const readJsonBody = async <Schema extends z.ZodObject>(
  request: Request,
  schema: Schema,
): Promise<z.infer<Schema>> => {
  assertContentType(request, 'application/json');
  const text = await readText(request);
  const value = parseJson(text);
  const result = schema.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    const [field] = issue?.path ?? [];
    // The client chooses the names of unknown fields, and one may be a token, so they are not repeated.
    if (issue?.code === 'unrecognized_keys') throw new HttpError(400, 'The body has a field that is not documented');
    throw new HttpError(400, field === undefined ? bodyExpected : `Field '${String(field)}' ${issue?.message}`);
  }
  // JSON.parse silently keeps the last of two equal names. All values here are strings, so the text contains exactly
  // two strings for each field, unless a field was repeated.
  const strings = text.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0;
  if (strings !== 2 * Object.keys(result.data).length) throw new HttpError(400, 'A field is given more than once');
  return result.data;
};

const bodyExpected = 'The body must be a JSON object';

/** Reads the body of a form. Throws an HttpError as readJsonBody does. */
export const readFormBody = async (request: Request): Promise<URLSearchParams> => {
  assertContentType(request, 'application/x-www-form-urlencoded');
  return new URLSearchParams(await readText(request));
};

const assertContentType = (request: Request, expected: string) => {
  const [type = '', ...parameters] = (request.headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (type.trim() !== expected || (charset && !/^charset="?utf-?8"?$/.test(charset))) {
    throw new HttpError(415, `The body must be ${expected} in UTF-8`);
  }
  refuseCompressed(request);
};

const readText = async (request: Request): Promise<string> => {
  const bytes = await readBytes(request, bodyMaximum).catch((error) => {
    // A client that hangs up half-way is not our failure.
    throw error instanceof HttpError ? error : new HttpError(400, 'The body did not arrive whole');
  });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new HttpError(400, 'The body must be UTF-8');
  }
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, bodyExpected);
  }
};
