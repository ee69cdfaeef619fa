import type { z } from 'zod';
import { HttpError } from '../../http/answers.ts';
import { readBytes, refuseCompressed } from '../../http/request-body.ts';

/** The largest body that the gateway reads, in bytes (decisions, section 6). */
const bodyMaximum = 8 * 1024;

/**
 * Reads a request's JSON body against a schema of string fields. Throws an HttpError: 415 for another content type, 413
 * beyond 8 KiB, 400 for what is no JSON object in UTF-8 or ends too early, and for missing, unknown, repeated or mistyped fields.
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
    // The name of an unknown field comes from the client and may be anything, a token included; it is not repeated.
    if (issue?.code === 'unrecognized_keys') throw new HttpError(400, 'The body has a field that is not documented');
    throw new HttpError(400, field === undefined ? bodyExpected : `Field '${String(field)}' ${issue?.message}`);
  }
  // JSON.parse keeps the last of two equal names without a word. Every value here is a string, so the text holds exactly
  // two strings for each field that is left, unless one was given twice.
  const strings = text.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0;
  if (strings !== 2 * Object.keys(result.data).length) throw new HttpError(400, 'A field is given more than once');
  return result.data;
};

const bodyExpected = 'The body must be a JSON object';

/** Reads a form's body. Throws an HttpError as readJsonBody does. */
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
    // Whoever hangs up in the middle of it is no failure of ours.
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
