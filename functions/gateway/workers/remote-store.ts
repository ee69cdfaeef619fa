import { ClientLeft, type CredentialStore, StoreUnavailable } from '../store/credential-store.ts';
import { everyOperation, isOperation, type StoreOperation } from '../store/operation-names.ts';

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
  if (!isOperation(name)) throw new TypeError('this is no operation of the store');
  try {
    const operation = store[name] as (...given: readonly unknown[]) => Promise<unknown>;
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
    return {
      ...everyOperation(
        (name) =>
          (...parameters) =>
            ask(name, parameters),
      ),
      whileWanted: storeFor,
      close: async () => {},
    };
  };
  return storeFor();
};
