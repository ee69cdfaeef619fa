import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { openConnections, type Sent } from '../support/wire.ts';
import { type CostlyRequest, costlyPlaces, fillPlace, type Sizes } from './costly-requests.ts';
import { tokens } from './tokens.ts';

// H7: no request that the limits let through costs the process more than 20 ms at a stretch.

/** The longest that a request may hold the process, in milliseconds. */
export const longestStretch = 20;

export type CostsQuestion = 'begin' | 'end';
export type CostsAnswer =
  | {
      readonly kind: 'ready';
      readonly port: number;
      readonly ids: readonly string[];
      readonly heavyIds: readonly string[];
    }
  | { readonly kind: 'begun' }
  /** The most milliseconds of processor time in which the thread that answers looked at nothing else. */
  | { readonly kind: 'measured'; readonly stretch: number };

/** A request and the longest stretch in milliseconds, of which a busy machine is no part. */
export interface Cost extends CostlyRequest {
  readonly stretch: number;
}

/** A server in a process of its own that is measured request by request. */
export interface MeasuredServer {
  /** Identifiers that its index knows. */
  readonly ids: readonly string[];
  /** Others, of packages whose records are as long as a repository may have them. */
  readonly heavyIds: readonly string[];
  readonly sizes: Sizes;
  /** Milliseconds that a request held the process; undefined where it cannot be sent. */
  cost(sent: Sent): Promise<number | undefined>;
  /** The same, as the least of several times: what every one of them took is no garbage and no other process's. */
  confirmed(sent: Sent): Promise<number>;
  stop(): void;
}

const repeats = 7;

const nextAnswer = async (child: ChildProcess, question?: CostsQuestion): Promise<CostsAnswer> => {
  const ended = new AbortController();
  const answer = once(child, 'message', { signal: ended.signal });
  const exit = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`The measured server ended with ${code}`);
  });
  if (question !== undefined) child.send(question);
  try {
    return (await Promise.race([answer, exit]))[0];
  } finally {
    ended.abort();
    await Promise.allSettled([answer, exit]);
  }
};

// The largest of these sizes that is not refused for its size.
const largestTaken = async (
  statusOf: (sent: Sent) => Promise<number>,
  sizes: readonly number[],
  make: (size: number) => Sent,
): Promise<number> => {
  for (const size of sizes) {
    const status = await statusOf(make(size));
    if (status !== 0 && status !== 413 && status !== 414 && status !== 431) return size;
  }
  throw new Error('Every size is refused');
};

/** Starts the server; `planted` puts a costly parser into it. */
export const startMeasuredServer = async (options: { planted?: boolean } = {}): Promise<MeasuredServer> => {
  const child = fork(path.join(import.meta.dirname, 'costs-process.ts'), options.planted ? ['--planted'] : [], {
    serialization: 'json',
  });
  const ready = await nextAnswer(child);
  if (ready.kind !== 'ready') throw new Error('The measured server did not say that it is ready');
  const connections = openConnections(ready.port, 1);
  let client = 0;
  // Every request from a client of its own, so that no limit of a client hides what the next one costs.
  const send = (sent: Sent) => {
    client++;
    const address = `10.${(client >> 16) & 255}.${(client >> 8) & 255}.${client & 255}`;
    return connections.send({ ...sent, headers: { 'x-forwarded-for': address, ...sent.headers } });
  };
  const statusOf = (sent: Sent): Promise<number> =>
    send(sent).then(
      ({ status }) => status,
      () => 0,
    );
  const cost = async (sent: Sent): Promise<number | undefined> => {
    await nextAnswer(child, 'begin');
    if ((await statusOf(sent)) === 0) return undefined;
    const measured = await nextAnswer(child, 'end');
    return measured.kind === 'measured' ? measured.stretch : undefined;
  };
  const sizes = {
    target: await largestTaken(statusOf, [72_000, 65_500, 60_000, 30_000], (size) => ({
      method: 'GET',
      target: `/v2/?${'x'.repeat(size)}`,
    })),
    header: await largestTaken(statusOf, [125_000, 64_000, 31_500, 15_000, 7000], (size) => ({
      method: 'GET',
      target: '/v2/',
      headers: { 'x-unknown': 'x'.repeat(size) },
    })),
    body: await largestTaken(statusOf, [256 * 1024, 64 * 1024, 8 * 1024], (size) => ({
      method: 'POST',
      target: '/v2/jailbreak/download/ingest',
      headers: { 'content-type': 'application/json' },
      body: `[]${' '.repeat(size - 2)}`,
    })),
  };
  return {
    ids: ready.ids,
    heavyIds: ready.heavyIds,
    sizes,
    cost,
    confirmed: async (sent) => {
      let least = Number.POSITIVE_INFINITY;
      for (let time = 0; time < repeats && least >= longestStretch; time++) {
        least = Math.min(least, (await cost(sent)) ?? least);
      }
      return Number.isFinite(least) ? least : 0;
    },
    stop: () => {
      connections.close();
      child.kill();
    },
  };
};

const gatewayBody = 8 * 1024;

// What the operations are for, as much of it as they take.
const honestRequests = ({ ids, heavyIds }: Pick<MeasuredServer, 'ids' | 'heavyIds'>): CostlyRequest[] => {
  const list = ids.slice(0, 2000).join(',');
  const downloads = ids.slice(0, 256).map((id) => ({ package_id: id, package_version: '1.0' }));
  const get = (target: string) => ({ name: `GET ${target.slice(0, 80)}`, sent: { method: 'GET', target } });
  return [
    get(`/v2/jailbreak/package/multi?ids=${list}`),
    get(`/v2/jailbreak/package/multi?ids=${heavyIds.join(',')}`),
    get('/v2/jailbreak/package/search?q=heavy&limit=250'),
    get('/v2/jailbreak/package/search?q=word&limit=250'),
    get('/v2/jailbreak/package/search?q=word&limit=250&page=10'),
    get('/v2/jailbreak/package/search?q=word&limit=250&page=10&architecture=iphoneos-arm&firmware=16.7'),
    get('/v2/jailbreak/repository/large/packages'),
    {
      name: 'POST of 256 downloads',
      sent: {
        method: 'POST',
        target: '/v2/jailbreak/download/ingest',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(downloads),
      },
    },
  ];
};

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

const shuffle = <T>(list: T[]): T[] => {
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [list[index], list[other]] = [list[other] as T, list[index] as T];
  }
  return list;
};

/**
 * Every token in every place once, in any order, then tokens put together at random, for as long as is asked for.
 */
export function* costlyRequests(server: Pick<MeasuredServer, 'ids' | 'heavyIds' | 'sizes'>): Generator<CostlyRequest> {
  const subjects = costlyPlaces(server.sizes, gatewayBody);
  yield* honestRequests(server);
  const all = subjects.flatMap(([subject, places]) => places.map((place) => ({ subject, place })));
  const singles = all.flatMap((where) => tokens.map((token) => ({ ...where, token })));
  for (const { subject, place, token } of shuffle(singles)) yield fillPlace(subject, place, token);
  for (;;) {
    const { subject, place } = pick(all);
    yield fillPlace(subject, place, pick(tokens) + pick(tokens) + (Math.random() < 0.5 ? pick(tokens) : ''));
  }
}

/**
 * Measures these requests until `until` (as performance.now() tells the time) and returns those that held the process
 * longer than it may be held, and how many were measured.
 */
export const findCosts = async (
  server: MeasuredServer,
  requests: Iterable<CostlyRequest>,
  until: number,
  onMeasured: () => void = () => {},
): Promise<{ measured: number; costs: Cost[] }> => {
  const costs: Cost[] = [];
  let measured = 0;
  for (const request of requests) {
    if (performance.now() >= until) break;
    const first = await server.cost(request.sent);
    if (first === undefined) continue;
    measured++;
    onMeasured();
    if (first < longestStretch) continue;
    const stretch = await server.confirmed(request.sent);
    if (stretch >= longestStretch) costs.push({ ...request, stretch });
  }
  return { measured, costs };
};
