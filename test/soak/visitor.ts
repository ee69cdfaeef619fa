import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { expectThat, Failure } from './tally.ts';
import type { Answer, Client, Sending } from './visiting-client.ts';

/** What the load knows of the index: what is always there, and what comes and goes. */
export interface Known {
  readonly stablePackages: readonly string[];
  readonly stableRepository: string;
  readonly passingPackages: readonly string[];
  readonly passingRepositories: readonly string[];
}

/** Who asks: a client, what it knows, and the kind of request under which it is counted. */
export interface Visitor {
  readonly client: Client;
  readonly known: Known;
  readonly kind: string;
}

/** A kind of request: one turn may be of several requests. Throws a Failure where an answer is not as it must be. */
export interface Kind {
  readonly name: string;
  /** How often it is chosen, compared with the others. */
  readonly weight: number;
  run(visitor: Visitor): Promise<void>;
}

export const pick = <T>(values: readonly T[]): T => {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Failure('there is nothing to choose from');
  return value;
};

const encodings = ['gzip', 'br', 'zstd', 'gzip, deflate, br, zstd', '*;q=0.5', 'identity', ''];

/** Headers as clients send them: with and without Accept-Encoding. */
const someHeaders = (): Record<string, string> => {
  const encoding = pick(encodings);
  return encoding === '' ? {} : { 'accept-encoding': encoding };
};

/** Sends a request that must be answered with one of these statuses. */
export const ask = async (
  { client, kind }: Visitor,
  path: string,
  statuses: readonly number[],
  sending: Sending = {},
): Promise<Answer> => {
  const answer = await client.send(kind, path, { ...sending, headers: { ...someHeaders(), ...sending.headers } });
  const asked = `${sending.method ?? 'GET'} ${path.slice(0, 200)}`;
  const said = answer.body.toString('utf8', 0, 300);
  expectThat(
    statuses.includes(answer.status),
    `${asked}: ${answer.status} instead of ${statuses.join(' or ')}: ${said}`,
  );
  return answer;
};

/** The body as JSON that holds to a schema. */
export const read = <T>(what: string, { body }: Answer, schema: z.ZodType<T>): T => {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch (cause) {
    throw new Failure(`${what} is no JSON: ${body.toString('utf8', 0, 200)}`, { cause });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Failure(`${what} does not hold to its schema: ${issue?.path.join('.')} ${issue?.message}`);
};

// Longer than a server takes to notice a build, and than what vanished outlives it.
const settlingMs = 1500;

/**
 * Follows what an answer names. A thing may have gone since it was named; then whoever named it does so no longer, or
 * has gone as well. Throws a Failure where a thing is missing for good.
 */
export const follow = async (
  visitor: Visitor,
  path: string,
  isStillNamed: () => Promise<boolean>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer | undefined> => {
  const answer = await ask(visitor, path, [200, 404], { headers });
  if (answer.status === 200) return answer;
  await sleep(settlingMs);
  if (!(await isStillNamed())) return undefined;
  const again = await ask(visitor, path, [200, 404], { headers });
  expectThat(again.status === 200, `${path} is named and missing for good`);
  return again;
};

/** The path of an address of what was built. */
export const pathOf = (address: string): string => {
  const { pathname, search } = new URL(address);
  return pathname + search;
};
