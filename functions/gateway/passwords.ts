/** Turns a password and a salt into a key; Node's scrypt, which works outside the event loop. */
export type Scrypt = (password: string, salt: Uint8Array, length: number, cost: ScryptCost) => Promise<Uint8Array>;

/** scrypt's parameters: memory and time cost (a power of two), block size, parallelism. */
export interface ScryptCost {
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

/** OWASP Password Storage Cheat Sheet, scrypt: 128 MiB for each check. */
export const recommendedCost: ScryptCost = { n: 2 ** 17, r: 8, p: 1 };

/** More checks are waiting than may; the client should come back in a few seconds. */
export class PasswordsBusy extends Error {
  readonly code = 'passwords_busy';
}

export interface Passwords {
  /** The hash to store, in PHC form. */
  hash(password: string): Promise<string>;
  /** Whether the password fits the hash. Undefined, for want of an account, costs the same and fits nothing. */
  verify(password: string, hash: string | undefined): Promise<boolean>;
}

const length = 32;

/**
 * Password checks, at most `parallel` at a time and `waiting` more in line, so that a flood of sign-ins takes neither all
 * processors nor all memory from the rest. A check beyond that throws PasswordsBusy.
 */
export const createPasswords = (deps: {
  scrypt: Scrypt;
  salt: () => Uint8Array;
  equal: (one: Uint8Array, other: Uint8Array) => boolean;
  cost: ScryptCost;
  parallel: number;
  waiting: number;
}): Passwords => {
  const { cost } = deps;
  const inTurn = limitParallel(deps.parallel, deps.waiting);
  const compute = (password: string, salt: Uint8Array, parameters: ScryptCost) =>
    // The same characters can be typed as different code points on different keyboards.
    inTurn(() => deps.scrypt(password.normalize('NFKC'), salt, length, parameters));
  // Nothing hashes to zeros, and computing against it costs what any other check does.
  const nobody = { salt: new Uint8Array(16), cost, key: new Uint8Array(length) };
  return {
    hash: async (password) => {
      const salt = deps.salt();
      return formatHash({ salt, cost, key: await compute(password, salt, cost) });
    },
    verify: async (password, hash) => {
      const expected = hash === undefined ? nobody : parseHash(hash);
      const key = await compute(password, expected.salt, expected.cost);
      return deps.equal(key, expected.key) && hash !== undefined;
    },
  };
};

const limitParallel = (parallel: number, waiting: number) => {
  const line: (() => void)[] = [];
  let running = 0;
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= parallel) {
      if (line.length >= waiting) throw new PasswordsBusy('too many password checks are waiting');
      await new Promise<void>((resolve) => line.push(resolve));
    } else {
      running++;
    }
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else running--;
    }
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
