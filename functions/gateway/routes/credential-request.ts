import type { z } from 'zod';
import { Refusal } from './credential-answers.ts';

/** The largest body that the gateway reads, in bytes (decisions, section 6). */
const bodyMaximum = 8 * 1024;

/**
 * Reads a request's JSON body against a schema of string fields. Throws a Refusal: 415 for another content type, 413
 * beyond 8 KiB, 400 for what is no JSON object in UTF-8, and for missing, unknown, repeated or mistyped fields.
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
    if (issue?.code === 'unrecognized_keys') throw new Refusal(400, 'The body has a field that is not documented');
    throw new Refusal(400, field === undefined ? bodyExpected : `Field '${String(field)}' ${issue?.message}`);
  }
  // JSON.parse keeps the last of two equal names without a word. Every value here is a string, so the text holds exactly
  // two strings for each field that is left, unless one was given twice.
  const strings = text.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0;
  if (strings !== 2 * Object.keys(result.data).length) throw new Refusal(400, 'A field is given more than once');
  return result.data;
};

const bodyExpected = 'The body must be a JSON object';

/** Reads a form's body. Throws a Refusal as readJsonBody does. */
export const readFormBody = async (request: Request): Promise<URLSearchParams> => {
  assertContentType(request, 'application/x-www-form-urlencoded');
  return new URLSearchParams(await readText(request));
};

const assertContentType = (request: Request, expected: string) => {
  const [type = '', ...parameters] = (request.headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='));
  if (type.trim() !== expected || (charset && !/^charset="?utf-?8"?$/.test(charset))) {
    throw new Refusal(415, `The body must be ${expected} in UTF-8`);
  }
  // Read as it stands it would be taken for broken JSON, and unpacked it could be any size.
  const coding = (request.headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  if (coding !== 'identity') throw new Refusal(415, 'The body must not be compressed (Content-Encoding)');
};

const readText = async (request: Request): Promise<string> => {
  const tooLarge = () => new Refusal(413, `The body must be at most ${bodyMaximum} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > bodyMaximum) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > bodyMaximum) throw tooLarge();
    chunks.push(chunk);
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode();
  } catch {
    throw new Refusal(400, 'The body must be UTF-8');
  }
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, bodyExpected);
  }
};
