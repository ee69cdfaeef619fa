import { toHex } from '../../src/contract/hex.ts';
import { clientNetwork, clientNetworks } from '../http/client-address.ts';
import type { Cryptography } from './cryptography.ts';
import type { CredentialStore } from './store/credential-store.ts';

const minute = 60_000;

/**
 * How many failed tries are borne, counted in the store so that all replicas count together.
 *
 * Guessing at one account from one address stops after a few; one address that tries many accounts, or many addresses
 * that try one account, stop later. An address of IPv6 is a /64, and whoever has many of them has a /56 or a /48, which
 * is counted too. All that one /48 can try at an account (80 an hour) is less than what the account bears from everywhere
 * (100; NIST SP 800-63B, section 5.2.2), so it takes several networks to close an account to unknown browsers. Nobody
 * closes it to a browser that has signed in to it before, which is counted by itself (OWASP Authentication Cheat Sheet).
 *
 * Failed introspection is counted so that it cannot fill the log; a right secret is never refused for it.
 */
const limits = {
  accountFromAddress: { most: 5, window: 15 * minute },
  accountFrom56: { most: 10, window: 15 * minute },
  accountFrom48: { most: 20, window: 15 * minute },
  address: { most: 50, window: 15 * minute },
  network56: { most: 100, window: 15 * minute },
  network48: { most: 200, window: 15 * minute },
  account: { most: 100, window: 60 * minute },
  knownBrowser: { most: 10, window: 15 * minute },
  introspection: { most: 10, window: 15 * minute },
} as const;

const signInWindow = minute;

type Deps = { readonly store: CredentialStore; readonly cryptography: Cryptography };

/** One try: counted, or one too many. */
export type CountedAttempt =
  | {
      /** Takes the try back: it succeeded, or could not be looked at for a fault of ours. */
      return(): Promise<void>;
      /** Takes it back for the account alone: it was turned away before its password was looked at. */
      returnForAccount(): Promise<void>;
      readonly wait?: undefined;
    }
  /** Milliseconds to wait; nothing was counted or written. */
  | { readonly wait: number };

/** Who tries: the name typed (in normal form), the client's address, and the hash of a browser known for that account. */
export interface SignInAttempt {
  readonly name: string;
  readonly address: string;
  readonly knownBrowser: Uint8Array | undefined;
}

const key = ({ cryptography }: Deps, limit: keyof typeof limits, ...parts: string[]) => ({
  ...limits[limit],
  keyHash: cryptography.sha256([limit, ...parts].join('\n')),
});

/**
 * Counts a try before its password is looked at: counted afterwards, a thousand guesses sent at once would all be looked
 * at before the first one counted. It counts for all of its limits or, where one is reached, for none: what a narrow
 * limit stops does not use up a wide one.
 */
export const countSignInAttempt = async (
  deps: Deps,
  { name, address, knownBrowser }: SignInAttempt,
): Promise<CountedAttempt> => {
  const { store } = deps;
  const [subscriber, home, site] = clientNetworks(address);
  const wide =
    home !== undefined && site !== undefined
      ? [
          key(deps, 'accountFrom56', name, home),
          key(deps, 'accountFrom48', name, site),
          key(deps, 'network56', home),
          key(deps, 'network48', site),
        ]
      : [];
  const forAccount = key(deps, 'account', name);
  const counters = knownBrowser
    ? [key(deps, 'knownBrowser', name, toHex(knownBrowser))]
    : [key(deps, 'accountFromAddress', name, subscriber), key(deps, 'address', subscriber), ...wide, forAccount];
  const wait = await store.countAttempts(counters, knownBrowser === undefined);
  if (wait !== undefined) return { wait };
  return {
    return: () => store.returnAttempts(counters.map(({ keyHash }) => keyHash)),
    returnForAccount: () => (knownBrowser ? Promise.resolve() : store.returnAttempts([forAccount.keyHash], true)),
  };
};

/** Counts a failed introspection; resolves to the milliseconds to wait, or undefined where it may fail again. */
export const countFailedIntrospection = async (deps: Deps, address: string): Promise<number | undefined> =>
  deps.store.countAttempts([key(deps, 'introspection', clientNetwork(address, 48))], true);

/** What a sign-in may be asked for: a place in the store, or a question to the OpenID provider on the way there or back. */
export type SignInStep = 'signIn' | 'toProvider' | 'fromProvider';

/**
 * Counts a request for this step of a sign-in in the store, by the bounds of createSignInRate: for hosts of which so many
 * run that each for itself bounds nothing. Resolves to the seconds to wait, 0 for none.
 */
export const countSignInRequest = async (
  deps: Deps,
  address: string,
  rate: number,
  step: SignInStep = 'signIn',
): Promise<number> => {
  if (rate === 0) return 0;
  const [subscriber, home, site] = clientNetworks(address);
  const counted = [[subscriber, 1] as const, [home, 2] as const, [site, 4] as const].flatMap(([network, times]) =>
    network === undefined ? [] : { network, most: times * rate },
  );
  const wait = await deps.store.countAttempts(
    counted.map(({ network, most }) => ({
      keyHash: deps.cryptography.sha256(`${step}\n${network}`),
      most,
      window: signInWindow,
    })),
  );
  return wait === undefined ? 0 : Math.ceil(wait / 1000);
};
