import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { type Operation, operations } from '../../src/contract/paths.ts';
import type { Received } from './wire.ts';

type Json = Record<string, unknown>;

/** What is wrong with an answer, as a sentence; undefined if it is as described. */
type Verdict = string | undefined;

const pointer = (path: readonly string[]): string =>
  path.map((segment) => segment.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');

/** The media type without parameters. JSON has one encoding in any case (RFC 8259 §8.1). */
const essenceOf = ({ headers }: Received): string =>
  (headers['content-type'] ?? '').replace(/^(application\/json); charset=utf-8$/i, '$1');

/** Checks answers against an OpenAPI description, with an independent validator. */
export class DescribedAnswers {
  readonly #description: Json;
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();
  /** The answers so far, as "GET /address 200". */
  readonly seen = new Set<string>();

  constructor(description: Json) {
    this.#description = description;
    this.#ajv = new Ajv2020({ strict: false, allErrors: false });
    addFormats.default(this.#ajv);
    this.#ajv.addSchema({ $id: 'description', ...description });
  }

  /** Every described answer, in the form of `seen`. */
  get described(): Set<string> {
    const paths = this.#description.paths as Record<string, Record<string, { responses: Json }>>;
    return new Set(
      Object.entries(paths).flatMap(([address, methods]) =>
        // Other fields of a path item than methods contain no responses.
        Object.entries(methods).flatMap(([method, { responses = {} }]) =>
          Object.keys(responses).map((status) => `${method.toUpperCase()} ${address} ${status}`),
        ),
      ),
    );
  }

  /**
   * Checks an answer against the description of an operation; `method` is the one of the request. OPTIONS and addresses
   * without an operation are not described, but their errors have the same form as all errors.
   */
  check(operation: Operation | undefined, method: string, answer: Received): Verdict {
    const { status, body } = answer;
    if ((method === 'HEAD' || status === 304 || status === 204) && body.length > 0) return 'has a body';
    if (method === 'OPTIONS' && status === 204) return undefined;
    if (operation === undefined) {
      if (status < 400) return `answers ${status} though there is no such operation`;
      return this.#checkError(method, answer);
    }
    const where = ['paths', operation.address, operation.method.toLowerCase(), 'responses', String(status)];
    const response = this.#resolve(where);
    if (response === undefined) return `status ${status} is not described`;
    this.seen.add(`${operation.method} ${operation.address} ${status}`);
    for (const [name, header] of Object.entries((response.value.headers as Record<string, Json>) ?? {})) {
      const isAbsent = answer.headers[name.toLowerCase()] === undefined;
      if (isAbsent && header.required !== false) return `${status} lacks the header ${name}`;
    }
    const contents = response.value.content as Json | undefined;
    if (contents === undefined) return undefined;
    const type = essenceOf(answer);
    if (!(type in contents)) return `${status} is of type ${type}`;
    return method === 'HEAD' ? undefined : this.#validate([...response.path, 'content', type, 'schema'], answer);
  }

  #checkError(method: string, answer: Received): Verdict {
    if (answer.headers['content-type'] !== 'application/json') return `is of type ${answer.headers['content-type']}`;
    if (method === 'HEAD') return undefined;
    const name = answer.status === 404 ? 'NotFound' : 'Error';
    const { message } = JSON.parse(answer.body.toString());
    if (!String(message).startsWith(`${answer.status} `)) return `says ${message} with status ${answer.status}`;
    return this.#validate(['components', 'schemas', name], answer);
  }

  #validate(path: readonly string[], { headers, body }: Received): Verdict {
    const key = pointer(path);
    let validate = this.#validators.get(key);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `description#/${encodeURI(key)}` });
      this.#validators.set(key, validate);
    }
    const text = body.toString();
    const type = headers['content-type'] ?? '';
    const value = type === 'application/yaml' ? parse(text) : type.includes('json') ? JSON.parse(text) : text;
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors);
  }

  #resolve(path: readonly string[]): { path: readonly string[]; value: Json } | undefined {
    const value = path.reduce<unknown>((at, key) => (at as Json | undefined)?.[key], this.#description);
    if (value === undefined) return undefined;
    const reference = (value as Json).$ref;
    if (typeof reference !== 'string') return { path, value: value as Json };
    return this.#resolve(reference.slice(2).split('/'));
  }
}

const routes = (Object.values(operations) as Operation[])
  .map((operation) => ({ operation, segments: operation.address.split('/').slice(1) }))
  // Fixed segments take precedence over parameters.
  .sort((a, b) => Number(a.operation.address.includes('{')) - Number(b.operation.address.includes('{')));

/** The canonical form of a path according to the URL standard (H3). A "#" in the request is part of it. */
export const canonicalPath = (target: string): string =>
  URL.parse(`http://host${target.replaceAll('#', '%23')}`)?.pathname ?? '';

/** The operation that a target belongs to, determined without any code of the server; undefined if there is none. */
export const operationOf = (target: string): Operation | undefined => {
  const path = canonicalPath(target);
  let segments: string[];
  try {
    segments = path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
  const below = segments[0] === 'v2' ? segments.slice(1) : segments;
  if (below.length === 0) return operations.landing;
  return routes.find(
    ({ segments: route }) =>
      route.length === below.length &&
      route.every((part, index) => (part.startsWith('{') ? below[index] !== '' : part === below[index])),
  )?.operation;
};
