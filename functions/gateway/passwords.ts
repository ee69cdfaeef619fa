import { createPlaces, type Place, type PlaceLimits, type TakenPlace } from './password-places.ts';

/** Derives a key from a password and a salt: Node's scrypt, which works outside the event loop. */
export type Scrypt = (password: string, salt: Uint8Array, length: number, cost: ScryptCost) => Promise<Uint8Array>;

/** scrypt's parameters: memory and time cost (a power of two), block size, parallelism. */
export interface ScryptCost {
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

/** OWASP Password Storage Cheat Sheet, scrypt: 128 MiB for each check. */
export const recommendedCost: ScryptCost = { n: 2 ** 17, r: 8, p: 1 };

/**
 * The same work with a quarter of the memory, for small hosts: as many blocks are mixed, so a check takes as long as
 * with the recommended cost. OWASP requires `p` 3 with that much memory.
 */
export const smallCost: ScryptCost = { n: 2 ** 15, r: 8, p: 4 };

/**
 * Whether the password matches the hash. Without a hash, because there is no account, it takes as long and never matches.
 * It waits for its turn.
 */
export type VerifyPassword = (password: string, hash: string | undefined) => Promise<boolean>;

export interface Passwords {
  /** The hash to store, in PHC form. */
  hash(password: string): Promise<string>;
  /**
   * Does work that verifies once. The place of that check is taken before the work begins, and given back at the latest
   * when it ends. Throws an HttpError (503) if none is left.
   */
  inPlace<T>(whose: Place, work: (verify: VerifyPassword) => Promise<T>): Promise<T>;
}

const length = 32;

/** Password checks, each of which occupies a place (see password-places.ts). */
export const createPasswords = (deps: {
  scrypt: Scrypt;
  salt: () => Uint8Array;
  equal: (one: Uint8Array, other: Uint8Array) => boolean;
  cost: ScryptCost;
  places: PlaceLimits;
}): Passwords => {
  const { cost } = deps;
  const takePlace = createPlaces(deps.places);
  const compute = (place: TakenPlace, password: string, salt: Uint8Array, parameters: ScryptCost) =>
    // Different keyboards may produce different code points for the same characters.
    place.inTurn(() => deps.scrypt(password.normalize('NFKC'), salt, length, parameters));
  // Stands in for the hash of an unknown account, so that refusing it takes as long as refusing a wrong password.
  const nobody = { salt: new Uint8Array(16), cost, key: new Uint8Array(length) };
  return {
    hash: async (password) => {
      const salt = deps.salt();
      return formatHash({ salt, cost, key: await compute(takePlace({}), password, salt, cost) });
    },
    inPlace: async (whose, work) => {
      const place = takePlace(whose);
      try {
        return await work(async (password, hash) => {
          const expected = hash === undefined ? nobody : parseHash(hash);
          const key = await compute(place, password, expected.salt, expected.cost);
          return deps.equal(key, expected.key) && hash !== undefined;
        });
      } finally {
        place.leave();
      }
    },
  };
};

interface ParsedHash {
  readonly salt: Uint8Array;
  readonly cost: ScryptCost;
  readonly key: Uint8Array;
}

const formatHash = ({ salt, cost, key }: ParsedHash) =>
  `$scrypt$ln=${Math.log2(cost.n)},r=${cost.r},p=${cost.p}$${encode(salt)}$${encode(key)}`;

const parseHash = (text: string): ParsedHash => {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/.exec(text);
  const [, ln, r, p, salt, key] = match ?? [];
  if (salt === undefined || key === undefined) throw new Error('a stored password hash cannot be read');
  return { salt: decode(salt), cost: { n: 2 ** Number(ln), r: Number(r), p: Number(p) }, key: decode(key) };
};

const encode = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes)).replaceAll('=', '');
const decode = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
