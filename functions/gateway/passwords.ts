import { createPlaces, type Place, type PlaceLimits, type Places } from './password-places.ts';

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

export interface Passwords extends Pick<Places, 'assertRoom'> {
  /** The hash to store, in PHC form. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches the hash. Without a hash, because there is no account, it takes as long and never
   * matches. Throws an HttpError (503) if no place is left.
   */
  verify(password: string, hash: string | undefined, place?: Place): Promise<boolean>;
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
  const { assertRoom, inTurn } = createPlaces(deps.places);
  const compute = (password: string, salt: Uint8Array, parameters: ScryptCost, place: Place = {}) =>
    // Different keyboards may produce different code points for the same characters.
    inTurn(place, () => deps.scrypt(password.normalize('NFKC'), salt, length, parameters));
  // Stands in for the hash of an unknown account, so that refusing it takes as long as refusing a wrong password.
  const nobody = { salt: new Uint8Array(16), cost, key: new Uint8Array(length) };
  return {
    assertRoom,
    hash: async (password) => {
      const salt = deps.salt();
      return formatHash({ salt, cost, key: await compute(password, salt, cost) });
    },
    verify: async (password, hash, place) => {
      const expected = hash === undefined ? nobody : parseHash(hash);
      const key = await compute(password, expected.salt, expected.cost, place);
      return deps.equal(key, expected.key) && hash !== undefined;
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
