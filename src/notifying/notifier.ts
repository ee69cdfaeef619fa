import { hash } from 'node:crypto';
import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../disk/json-file.ts';
import { writeWholeFile } from '../disk/whole-file.ts';
import type { Proxies } from '../net/proxies.ts';
import { createSender, type Sender } from '../net/sender.ts';
import { composeBody, type Teller } from './messages.ts';
import {
  type FoundRepository,
  followBuild,
  followFailure,
  type Notice,
  noticeSchema,
  toldStateSchema,
} from './notices.ts';
import type { Destination } from './receiver.ts';

/** A waiting notice, and since when it waits. What it reports may be older. */
const waitingSchema = noticeSchema.extend({ queued: z.iso.datetime().optional() });
type Waiting = Readonly<z.infer<typeof waitingSchema>>;

const noticeOf = ({ queued: _, ...notice }: Waiting): Notice => notice;

const stateSchema = z.strictObject({
  format: z.literal(1),
  told: toldStateSchema.optional(),
  /** Notices that could not be delivered, by digest of the destination, because its address is secret. */
  waiting: z.record(z.string(), z.array(waitingSchema)),
});
type NoticeState = z.infer<typeof stateSchema>;

/** How many notices wait for a destination, and for how long at most. */
const mostWaiting = 200;
const longestWaitMs = 7 * 86_400_000;
/** For one delivery, from connecting to the end of the answer. Destinations are notified in parallel. */
const deliveryMs = 10_000;
const answerBytes = 64 * 1024;

const statePath = (state: string): string => path.join(state, 'notices.json');

/**
 * Whether something else is in the place of the file, such as a pipe or a link to a disk that is not there, or it belongs
 * to another user. That stays, and nothing is remembered.
 */
const isBlocked = (state: string): boolean => {
  const file = statePath(state);
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false;
    accessSync(file, constants.R_OK);
    return !statSync(file).isFile();
  } catch {
    return true;
  }
};

const readState = (state: string): NoticeState => {
  const known = isBlocked(state) ? undefined : readJsonFile(statePath(state), stateSchema);
  // If the file does not exist yet or is damaged, it is unknown what was reported.
  return known ?? { format: 1, waiting: {} };
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Returns a sentence if it cannot be written, as on a full disk or in a folder of another user: of just these the
 * operator must hear, if need be again and again.
 */
const writeState = (state: string, told: NoticeState): string[] => {
  if (isBlocked(state)) return [];
  try {
    writeWholeFile(statePath(state), `${JSON.stringify(told)}\n`);
    return [];
  } catch (error) {
    return [`What the operator knows could not be noted, and may be told again: ${reasonOf(error)}`];
  }
};

const keyOf = ({ form, url }: Destination): string => hash('sha256', `${form} ${url.href}`);

/** The result of a build: the state of each repository, or why it failed. */
export type BuildNews =
  | { readonly repositories: readonly FoundRepository[] }
  | { readonly failure: { readonly name: string; readonly reason: string } };

export interface NotifierOptions {
  readonly destinations: readonly Destination[];
  readonly teller: Teller;
  readonly proxies?: Proxies | undefined;
  /** Milliseconds for one delivery. */
  readonly deliveryMs?: number;
}

/** Tells the operator what changed. */
export interface Notifier {
  /**
   * Reports what is new in a build, and what could not be delivered before. Only the holder of the lock of the state
   * folder may call this, or a build that is refused because of what is in that folder. Returns sentences about what could
   * not be delivered, which the next call tries again, or not be noted. Never throws.
   */
  tell(state: string, news: BuildNews, now: Date): Promise<string[]>;
}

const deliver = async (
  sender: Sender,
  { url, form }: Destination,
  body: string,
  timeoutMs: number,
): Promise<string | undefined> => {
  try {
    const { status } = await sender.send({
      method: 'POST',
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      headers: { 'content-type': 'application/json', 'user-agent': 'Debdex' },
      body: Buffer.from(body),
      timeoutMs,
      answerBytes,
    });
    return status >= 200 && status < 300 ? undefined : `it answered ${status} (as ${form})`;
  } catch (error) {
    return reasonOf(error);
  }
};

const follow = (news: BuildNews, at: string, { told }: NoticeState) =>
  'failure' in news ? followFailure(news.failure, at, told) : followBuild(news.repositories, at, told);

/** A notifier that delivers to all of these destinations. */
export const createNotifier = (options: NotifierOptions): Notifier => {
  const tell = async (state: string, news: BuildNews, now: Date): Promise<string[]> => {
    const { destinations, teller } = options;
    const before = readState(state);
    const { state: told, notices } = follow(news, now.toISOString(), before);
    const isYoung = ({ since, queued = since }: Waiting) => now.getTime() - Date.parse(queued) < longestWaitMs;
    const fresh: Waiting[] = notices.map((notice) => ({ ...notice, queued: now.toISOString() }));
    const due = new Map(
      destinations.map((destination) => {
        const left = before.waiting[keyOf(destination)] ?? [];
        return [destination, [...left.filter(isYoung), ...fresh].slice(-mostWaiting)] as const;
      }),
    );
    const waitingOf = (isLeft: (destination: Destination) => boolean) =>
      Object.fromEntries(
        [...due].flatMap(([destination, left]) =>
          left.length > 0 && isLeft(destination) ? [[keyOf(destination), left]] : [],
        ),
      );
    // Written before anything is sent, so that an undelivered notice survives a kill.
    const unnoted = writeState(state, { format: 1, told, waiting: waitingOf(() => true) });
    if ([...due.values()].every(({ length }) => length === 0)) return unnoted;
    const sender = createSender({ connections: 1, proxies: options.proxies });
    try {
      const failures = new Map<Destination, string>();
      await Promise.all(
        [...due].map(async ([destination, list]) => {
          if (list.length === 0) return;
          const body = composeBody(list.map(noticeOf), destination.form, teller, now.toISOString());
          const failure = await deliver(sender, destination, body, options.deliveryMs ?? deliveryMs);
          if (failure !== undefined) failures.set(destination, failure);
        }),
      );
      const waiting = waitingOf((destination) => failures.has(destination));
      const stillUnnoted = writeState(state, { format: 1, told, waiting });
      const untold = [...failures].map(
        ([{ name, url }, failure]) =>
          `${due.size > 1 ? 'One of the receivers, ' : ''}${name}, could not be told, and will be at the next build: ${failure.replaceAll(url.href, name)}`,
      );
      return [...untold, ...stillUnnoted];
    } finally {
      await sender.close();
    }
  };
  return {
    tell: (state, news, now) =>
      tell(state, news, now).catch((error: unknown) => [`The operator could not be told: ${reasonOf(error)}`]),
  };
};
