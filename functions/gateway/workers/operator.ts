import { z } from 'zod';
import { operatorPath } from '../../../src/contract/gateway-schemas.ts';
import { parseJson } from '../../../src/contract/json-text.ts';
import { closeToScripts, errorAnswer, HttpError } from '../../http/answers.ts';
import { keyMissing, shownSecret } from '../../http/operator-key.ts';
import { readJson } from '../../http/request-body.ts';
import { readResponseText } from '../../http/response-text.ts';
import type { Cryptography } from '../cryptography.ts';
import { toRefusal } from '../routes/credential-answers.ts';
import type { SecurityEvent, SecurityLog } from '../security-log.ts';
import { type CredentialStore, StoreUnavailable } from '../store/credential-store.ts';
import { countFailedIntrospection } from '../throttle.ts';
import { type Operated, operateOn, remoteStore } from './remote-store.ts';

const text = z.string().max(1_024);

/** What an operator's commands ask of the store, and the event that each of them is. */
const commands = {
  addAccount: z.tuple([z.strictObject({ id: text, name: text, displayName: text, passwordHash: text })]),
  findAccount: z.tuple([text]),
  listAccounts: z.tuple([]),
  setPassword: z.tuple([text, text]),
  setDisabled: z.tuple([text, z.boolean()]),
  removeAccount: z.tuple([text]),
  signOutAccount: z.tuple([text]),
  signOutEverybody: z.tuple([]),
} as const satisfies Partial<Record<keyof CredentialStore, z.ZodType>>;

type Command = keyof typeof commands;

const commandSchema = z.strictObject({
  operation: z.enum(Object.keys(commands) as [Command, ...Command[]]),
  parameters: z.array(z.unknown()).max(2),
});

const eventOf = (operation: Command, [first, second]: readonly unknown[]): SecurityEvent | undefined => {
  const name = typeof first === 'string' ? first : (first as { name?: string } | undefined)?.name;
  const event = {
    addAccount: 'account-added',
    findAccount: undefined,
    listAccounts: undefined,
    setPassword: 'account-password-set',
    setDisabled: second === true ? 'account-disabled' : 'account-enabled',
    removeAccount: 'account-removed',
    signOutAccount: 'account-signed-out',
    signOutEverybody: 'everybody-signed-out',
  } as const;
  const named = event[operation];
  return named && { event: named, ...(name !== undefined && { name }) };
};

/** The largest command, in bytes. */
const bodyMaximum = 8 * 1024;

/**
 * Answers the commands of an operator, who shows a key that only the Worker has beside: accounts are kept where no
 * terminal reaches. A hash of a password goes in and never out. `finish` is handed what goes on where the operator has left.
 */
export const createOperator = (deps: {
  readonly store: CredentialStore;
  readonly cryptography: Cryptography;
  readonly log: SecurityLog;
  readonly operatorKey: string;
  readonly finish: (work: Promise<unknown>) => void;
}) => {
  const { store, cryptography, log, finish } = deps;
  const key = cryptography.sha256(deps.operatorKey);

  const assertOperator = async (request: Request, address: string) => {
    if (cryptography.equal(key, cryptography.sha256(shownSecret(request)))) return;
    const wait = await countFailedIntrospection(deps, address);
    if (wait !== undefined) {
      throw new HttpError(429, 'Too many requests without the key came from this network', {
        'Retry-After': String(Math.ceil(wait / 1000)),
      });
    }
    log({ event: 'introspection-refused', address, reason: 'operator' });
    throw keyMissing();
  };

  const answer = async (request: Request, address: string): Promise<Operated> => {
    if (request.method !== 'POST') throw new HttpError(405, 'Use POST', { Allow: 'POST' });
    await assertOperator(request, address);
    const command = commandSchema.safeParse(await readJson(request, bodyMaximum));
    if (!command.success) throw new HttpError(400, 'This is no command of an operator');
    const { operation } = command.data;
    const parameters = commands[operation].safeParse(command.data.parameters);
    if (!parameters.success) throw new HttpError(400, 'The parameters are not those of this command');
    const event = eventOf(operation, parameters.data);
    const operated = await operateOn(store, operation, parameters.data);
    if ('unavailable' in operated) {
      // Its answer may be all that was lost.
      if (event) log({ ...event, address, reason: 'unconfirmed' });
      return operated;
    }
    const { value } = operated;
    if (event && value !== false && value !== undefined) log({ ...event, address });
    // JSON has no word for what is not there.
    if (value === undefined || value === null) return { value: null };
    if (operation !== 'findAccount') return operated;
    return { value: { ...(value as object), passwordHash: null } };
  };

  return async (request: Request, address: string): Promise<Response> => {
    try {
      const headers = { 'Content-Type': 'application/json; charset=UTF-8', 'Cache-Control': 'no-store' };
      const answering = answer(request, address);
      finish(answering.catch(() => {}));
      return new Response(JSON.stringify(await answering), { headers });
    } catch (error) {
      if (!(error instanceof HttpError || error instanceof StoreUnavailable)) throw error;
      return closeToScripts(errorAnswer(toRefusal(error), new Date(), request.method));
    }
  };
};

/** How long the Worker may take for a command, in milliseconds. To sign everybody out takes one for each portion. */
const patience = 300_000;
/** The most bytes of what it answers: the accounts of a large index. */
const largestAnswer = 64 * 2 ** 20;

const isOperated = (answer: unknown): answer is Operated =>
  typeof answer === 'object' && answer !== null && ('value' in answer || 'unavailable' in answer);

/**
 * The store of a Worker for its operator's commands: those alone. Every operation throws StoreUnavailable, with what the
 * Worker said, where it did not do it.
 */
export const operatedStore = (publicAddress: string, operatorKey: string): CredentialStore =>
  remoteStore(() => ({
    operate: async (operation, parameters) => {
      const response = await fetch(`${publicAddress.replace(/\/+$/, '')}${operatorPath}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${operatorKey}` },
        body: JSON.stringify({ operation, parameters }),
        redirect: 'error',
        signal: AbortSignal.timeout(patience),
      });
      const answer = parseJson(await readResponseText(response, largestAnswer));
      if (response.ok && isOperated(answer)) return 'value' in answer ? { value: answer.value ?? undefined } : answer;
      const { error = 'nothing that a gateway of Debdex says' } = (answer ?? {}) as { error?: string };
      throw new Error(`${publicAddress} answered ${response.status}: ${error}`);
    },
  }));
