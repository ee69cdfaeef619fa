import { z } from 'zod';
import { operatorPath } from '../../../src/contract/gateway-schemas.ts';
import { errorAnswer, HttpError } from '../../http/answers.ts';
import { readJson } from '../../http/request-body.ts';
import type { Cryptography } from '../cryptography.ts';
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
 * terminal reaches. A hash of a password goes in and never out.
 */
export const createOperator = (deps: {
  readonly store: CredentialStore;
  readonly cryptography: Cryptography;
  readonly log: SecurityLog;
  readonly operatorKey: string;
}) => {
  const { store, cryptography, log } = deps;
  const key = cryptography.sha256(deps.operatorKey);

  const assertOperator = async (request: Request, address: string) => {
    const [, shown = ''] = /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    if (cryptography.equal(key, cryptography.sha256(shown))) return;
    const wait = await countFailedIntrospection(deps, address);
    if (wait !== undefined) {
      throw new HttpError(429, 'Too many requests without the key came from this network', {
        'Retry-After': String(Math.ceil(wait / 1000)),
      });
    }
    log({ event: 'introspection-refused', address, reason: 'operator' });
    throw new HttpError(401, 'Send the key of the operator as: Authorization: Bearer <key>', {
      'WWW-Authenticate': 'Bearer realm="operator"',
    });
  };

  const answer = async (request: Request, address: string): Promise<Operated> => {
    if (request.method !== 'POST') throw new HttpError(405, 'Use POST', { Allow: 'POST' });
    await assertOperator(request, address);
    const command = commandSchema.safeParse(await readJson(request, bodyMaximum));
    if (!command.success) throw new HttpError(400, 'This is no command of an operator');
    const { operation } = command.data;
    const parameters = commands[operation].safeParse(command.data.parameters);
    if (!parameters.success) throw new HttpError(400, 'The parameters are not those of this command');
    const operated = await operateOn(store, operation, parameters.data);
    if ('unavailable' in operated) return operated;
    const { value } = operated;
    const event = eventOf(operation, parameters.data);
    if (event && value !== false && value !== undefined) log({ ...event, address });
    // JSON has no word for what is not there.
    if (value === undefined || value === null) return { value: null };
    if (operation !== 'findAccount') return operated;
    return { value: { ...(value as object), passwordHash: null } };
  };

  return async (request: Request, address: string): Promise<Response> => {
    try {
      const headers = { 'Content-Type': 'application/json; charset=UTF-8', 'Cache-Control': 'no-store' };
      return new Response(JSON.stringify(await answer(request, address)), { headers });
    } catch (error) {
      const refusal =
        error instanceof HttpError
          ? error
          : error instanceof StoreUnavailable
            ? new HttpError(503, 'The credential store cannot be reached; send the same again', { 'Retry-After': '5' })
            : undefined;
      if (refusal === undefined) throw error;
      const refused = errorAnswer(refusal, new Date(), request.method);
      for (const name of [...refused.headers.keys()]) {
        if (name.startsWith('access-control-')) refused.headers.delete(name);
      }
      refused.headers.set('Cache-Control', 'no-store');
      return refused;
    }
  };
};

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
      });
      const answer: unknown = await response.json().catch(() => undefined);
      if (response.ok && isOperated(answer)) return 'value' in answer ? { value: answer.value ?? undefined } : answer;
      const { error = 'nothing that a gateway of Debdex says' } = (answer ?? {}) as { error?: string };
      throw new Error(`${publicAddress} answered ${response.status}: ${error}`);
    },
  }));
