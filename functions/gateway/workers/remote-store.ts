import { ClientLeft, type CredentialStore, StoreUnavailable } from '../store/credential-store.ts';

/** What of a store is asked from afar: all but what is of one process. */
export type StoreOperation = Exclude<keyof CredentialStore, 'whileWanted' | 'close'>;

const operations: Readonly<Record<StoreOperation, true>> = {
  addAccount: true,
  findAccount: true,
  findOrAddFederated: true,
  hasAccounts: true,
  listAccounts: true,
  setPassword: true,
  setDisabled: true,
  removeAccount: true,
  signOutAccount: true,
  signOutEverybody: true,
  addSignInRequest: true,
  findSignInRequest: true,
  completeSignIn: true,
  findToken: true,
  refresh: true,
  revoke: true,
  touchFamily: true,
  listDevices: true,
  revokeFamily: true,
  addBrowser: true,
  findBrowser: true,
  removeBrowser: true,
  countAttempts: true,
  returnAttempts: true,
  findOrAddKey: true,
  sweep: true,
  probe: true,
};

/** What an operation came to, as it travels. The code is for the log, which tells no words. */
export type Operated =
  | { readonly value: unknown }
  | { readonly unavailable: string; readonly code?: string | undefined };

/** Where the operations of a store are done. */
export interface StoreStub {
  operate(name: StoreOperation, parameters: readonly unknown[]): Promise<Operated>;
}

/** Does an operation for who asks from afar. Throws a TypeError where it is none. */
export const operateOn = async (
  store: CredentialStore,
  name: string,
  parameters: readonly unknown[],
): Promise<Operated> => {
  if (!Object.hasOwn(operations, name)) throw new TypeError('this is no operation of the store');
  try {
    const operation = store[name as StoreOperation] as (...given: readonly unknown[]) => Promise<unknown>;
    return { value: await operation(...parameters) };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    if (!(error.cause instanceof Error)) return { unavailable: 'unknown' };
    const { message, code } = error.cause as Error & { readonly code?: unknown };
    return { unavailable: message, ...(typeof code === 'string' && { code }) };
  }
};

/**
 * The store that a stub leads to. `finish` is handed what goes on after the answer to a request, which ends there
 * otherwise.
 */
export const remoteStore = (
  stub: () => StoreStub,
  finish: (work: Promise<unknown>) => void = () => {},
): CredentialStore => {
  const storeFor = (client?: AbortSignal): CredentialStore => {
    const ask = async (name: StoreOperation, parameters: readonly unknown[]): Promise<unknown> => {
      if (client?.aborted) throw new StoreUnavailable(new ClientLeft());
      let operated: Operated;
      try {
        const operating = stub().operate(name, parameters);
        finish(operating.catch(() => {}));
        operated = await operating;
      } catch (error) {
        throw new StoreUnavailable(error);
      }
      if ('unavailable' in operated) {
        const { unavailable, code } = operated;
        throw new StoreUnavailable(Object.assign(new Error(unavailable), code !== undefined && { code }));
      }
      return operated.value;
    };
    const asked = Object.keys(operations).map((name) => [
      name,
      (...parameters: unknown[]) => ask(name as StoreOperation, parameters),
    ]);
    return {
      ...(Object.fromEntries(asked) as Omit<CredentialStore, 'whileWanted' | 'close'>),
      whileWanted: storeFor,
      close: async () => {},
    };
  };
  return storeFor();
};
