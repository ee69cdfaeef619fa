import type { Cryptography } from './cryptography.ts';
import type { CredentialStore } from './store.ts';

const minute = 60_000;

/**
 * How many failed sign-ins are borne, counted in the store so that all replicas count together.
 *
 * Guessing at one account from one address stops after a few; one address that tries many accounts, or many addresses
 * that try one account, stop later. None of the three stops a browser that has signed in to this account before: it is
 * counted by itself (OWASP Authentication Cheat Sheet; NIST SP 800-63B, section 5.2.2, at most 100 for an account), so
 * nobody can be locked out of their own browser by what others do.
 */
const signInLimits = {
  accountFromAddress: { most: 5, window: 15 * minute },
  address: { most: 50, window: 15 * minute },
  account: { most: 100, window: 60 * minute },
  knownBrowser: { most: 10, window: 15 * minute },
} as const;

/** One attempt at signing in, already counted. */
export interface CountedAttempt {
  /** Milliseconds to wait where the attempt is one too many, else undefined. */
  readonly wait: number | undefined;
  /** Takes the attempt back: it succeeded. */
  return(): Promise<void>;
}

/** Who tries: the name typed (in normal form), the client's address, and the hash of a browser known for that account. */
export interface SignInAttempt {
  readonly name: string;
  readonly address: string;
  readonly knownBrowser: Uint8Array | undefined;
}

/**
 * Counts an attempt before its password is looked at: counted afterwards, a thousand guesses sent at once would all be
 * looked at before the first one counted.
 */
export const countSignInAttempt = async (
  { store, cryptography }: { store: CredentialStore; cryptography: Cryptography },
  { name, address, knownBrowser }: SignInAttempt,
  now: number,
): Promise<CountedAttempt> => {
  const key = (limit: keyof typeof signInLimits, ...parts: string[]) => ({
    ...signInLimits[limit],
    keyHash: cryptography.sha256([limit, ...parts].join('\n')),
  });
  const network = addressNetwork(address);
  const counters = knownBrowser
    ? [key('knownBrowser', name, toHex(knownBrowser))]
    : [key('accountFromAddress', name, network), key('address', network), key('account', name)];
  const counts = await store.countAttempts(counters, now);
  const over = counts.filter(({ count }, index) => count > (counters[index]?.most ?? 0));
  return {
    wait: over.length > 0 ? Math.max(...over.map(({ endsAt }) => endsAt - now)) : undefined,
    return: () => store.returnAttempts(counters.map(({ keyHash }) => keyHash)),
  };
};

const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

// One subscriber holds a whole /64 of IPv6 addresses; an IPv4 address in IPv6 notation is still one of IPv4.
const addressNetwork = (written: string) => {
  const address = written.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - groups.length - rest.length)).fill('0') : [];
  return [...groups, ...zeros, ...rest].slice(0, 4).join(':');
};
