import { z } from 'zod';
import { asVerifyFull } from '../postgres-address.ts';
import {
  type AllowedAddress,
  type CallbackRules,
  forbiddenSchemes,
  opensAddress,
  packageManagerCallbacks,
  parseAllowedAddress,
} from './callback-rules.ts';
import type { GatewaySettings } from './gateway-deps.ts';
import type { OpenIdSettings } from './openid.ts';
import { refreshLifeMaximum } from './protocol.ts';
import type { StoreLocation } from './store/credential-store.ts';

/** The settings of the gateway. Times are in milliseconds. */
export interface GatewayConfiguration {
  readonly settings: GatewaySettings;
  readonly store: StoreLocation;
  /** Path of the audit log. */
  readonly auditFile: string;
  readonly openId?: OpenIdSettings | undefined;
  /** How many password checks run at a time. */
  readonly passwordChecks: number;
  /** Allowed settings that the operator should check, a sentence for each, to be logged at the start. */
  readonly warnings: readonly string[];
}

/** What the server around the gateway knows already. */
export interface Surroundings {
  /** Address under which the server is reached, without `/v2`. */
  readonly publicAddress: string;
  /** Folder for everything that is kept between runs. */
  readonly state: string;
  /** Whether the operator declares that this is no production, whatever the address and the environment say. */
  readonly development?: boolean;
}

/** Every mistake in the environment, one sentence each. */
export class ConfigurationInvalid extends Error {
  readonly code = 'configuration_invalid';
  readonly mistakes: readonly string[];
  constructor(mistakes: readonly string[]) {
    super(`The gateway's configuration has mistakes:\n${mistakes.map((mistake) => `- ${mistake}`).join('\n')}`);
    this.mistakes = mistakes;
  }
}

const whole = (minimum: number, maximum: number, unset: number) =>
  z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return unset;
      const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= minimum && value <= maximum) return value;
      context.addIssue({ code: 'custom', message: `must be a whole number from ${minimum} to ${maximum}` });
      return z.NEVER;
    });

const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .optional()
  .transform((text) => text === 'true');

const words = z
  .string()
  .optional()
  .transform((text) => text?.split(/[\s,]+/).filter((word) => word !== ''));

const address = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  });

const namesHost = (url: URL | null): boolean =>
  url !== null && (url.hostname !== '' || (url.searchParams.get('host') ?? '') !== '');

// Most often it is a password that ends the part of the address in which it stands.
const databaseAddress = z
  .string()
  // Without both slashes the driver would take no host of it, and ask this machine, as where a variable for the host is unset.
  .refine((text) => /^postgres(ql)?:\/\//i.test(text) && namesHost(URL.parse(text)), {
    error:
      'must be an address such as postgres://user:password@host/database; in user and password write %23 for #, ' +
      '%2F for /, %3F for ?, %40 for @ and %25 for %',
  });

// A file of a secret often ends with a line break. Providers compare exactly, and would refuse every sign-in.
const exactText = z
  .string()
  .regex(
    /^\S(?:.*\S)?$/,
    'must be one line without blanks at its ends: a file that it is read from may end with a line break',
  );

const issuerAddress = address('https:', 'http:').refine(
  // No request carries them.
  (text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''),
  { error: 'must not name a user or a password' },
);

const day = 24 * 60 * 60;

const environmentSchema = z.object({
  NODE_ENV: z.string().optional(),
  GATEWAY_DATABASE_URL: databaseAddress.optional(),
  GATEWAY_DATABASE_POOL: whole(1, 500, 10),
  GATEWAY_CREDENTIAL_TTL: whole(1, day, 3_600),
  GATEWAY_REFRESH_TTL: whole(60, refreshLifeMaximum / 1000, refreshLifeMaximum / 1000),
  GATEWAY_SIGN_IN_RATE: whole(0, 100_000, 30),
  GATEWAY_CALLBACKS: words,
  GATEWAY_ALLOW_HTTP: flag,
  GATEWAY_INTROSPECTION_SECRETS: z
    .string()
    .optional()
    .transform((text) => text?.split(/\s+/).filter((secret) => secret !== ''))
    // Secrets are separated by blanks; a comma could be mistaken for a separator.
    .refine((secrets) => secrets?.every((secret) => /^[\x21-\x2b\x2d-\x7e]{32,512}$/.test(secret)) ?? true, {
      error: 'must be secrets of 32 to 512 printable ASCII characters without a comma, separated by blanks',
    }),
  GATEWAY_DEVICE_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{32,512}$/, 'must be 32 to 512 printable ASCII characters without blanks')
    .optional(),
  GATEWAY_PASSWORD_CHECKS: whole(1, 64, 1),
  GATEWAY_OIDC_ISSUER: issuerAddress.optional(),
  GATEWAY_OIDC_CLIENT_ID: exactText.optional(),
  GATEWAY_OIDC_CLIENT_SECRET: exactText.optional(),
  GATEWAY_OIDC_ALLOW: z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return undefined;
      const [, claim, list = ''] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(text) ?? [];
      const values = list.split(',').map((value) => value.trim());
      if (claim !== undefined && values.every((value) => value !== '')) return { claim, values };
      context.addIssue({ code: 'custom', message: 'must be a claim and its values, as in groups=members,staff' });
      return z.NEVER;
    }),
  GATEWAY_OIDC_SCOPE: z
    .string()
    .regex(/^(.* )?openid( .*)?$/, 'must be scopes separated by blanks, openid among them')
    .optional(),
  GATEWAY_OIDC_NAME: z.string().min(1, 'must not be empty').max(40, 'must be at most 40 characters').optional(),
});

type Environment = z.infer<typeof environmentSchema>;

/**
 * Reads the gateway's settings from environment variables. Without any of them the result works for development. Throws
 * ConfigurationInvalid with every mistake at once.
 */
export const readGatewayConfiguration = (
  environment: Readonly<Record<string, string | undefined>>,
  surroundings: Surroundings,
): GatewayConfiguration => {
  const set = dropEmpty(environment);
  const mistakes = findUnknown(set);
  const parsed = environmentSchema.safeParse(set);
  if (!parsed.success) mistakes.push(...parsed.error.issues.map(describeIssue));
  // Read even if something else is wrong, so that all mistakes are reported together.
  const production = isProduction(set, surroundings);
  const httpAllowed = !production || set.GATEWAY_ALLOW_HTTP === 'true';
  const allowed = words.parse(set.GATEWAY_CALLBACKS) ?? [
    ...packageManagerCallbacks,
    ...(production ? [] : ['loopback']),
  ];
  const callbacks = readCallbacks(allowed, httpAllowed, mistakes);
  mistakes.push(...checkTogether(set, httpAllowed, surroundings));
  if (!parsed.success || mistakes.length > 0) throw new ConfigurationInvalid(mistakes);
  return toConfiguration(parsed.data, callbacks, surroundings);
};

// A name that is mistyped would leave its setting at the default: another store, or other rules.
const findUnknown = (set: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(set)
    .filter((name) => name.startsWith('GATEWAY_') && !(name in environmentSchema.shape))
    .map((name) => `${name} is not a setting of the gateway`);

/** The location of the credential store, for a command that needs no other setting. Throws ConfigurationInvalid. */
export const readStoreLocation = (
  environment: Readonly<Record<string, string | undefined>>,
  state: string,
): StoreLocation => {
  const set = dropEmpty(environment);
  const mistakes = findUnknown(set);
  const parsed = environmentSchema.pick({ GATEWAY_DATABASE_URL: true, GATEWAY_DATABASE_POOL: true }).safeParse(set);
  if (!parsed.success) mistakes.push(...parsed.error.issues.map(describeIssue));
  if (!parsed.success || mistakes.length > 0) throw new ConfigurationInvalid(mistakes);
  return toStoreLocation(parsed.data, state);
};

/** The audit log of the gateway and of its commands: one file below the state folder. */
export const auditFileIn = (state: string): string => `${state}/gateway-audit.jsonl`;

// A compose file sets a variable to an empty text to say that it is not set.
const dropEmpty = (environment: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));

const describeIssue = ({ path, message }: { path: readonly PropertyKey[]; message: string }) =>
  `${String(path[0])} ${message}`;

// A public https address is meant for strangers (decisions, section 7, "Production").
const isProduction = (
  { NODE_ENV }: Readonly<Record<string, string | undefined>>,
  { publicAddress, development = false }: Surroundings,
) => !development && (NODE_ENV === 'production' || publicAddress.startsWith('https:'));

const readCallbacks = (entries: readonly string[], httpAllowed: boolean, mistakes: string[]): CallbackRules => {
  const schemes = new Set<string>();
  const addresses: AllowedAddress[] = [];
  let loopback = false;
  for (const entry of entries) {
    const address = parseAllowedAddress(entry);
    if (entry === 'loopback') loopback = true;
    else if (/^[a-z][a-z0-9+.-]*:$/.test(entry) && !/^https?:$/.test(entry) && !forbiddenSchemes.has(entry)) {
      schemes.add(entry);
    } else if (address === undefined) {
      mistakes.push(
        `GATEWAY_CALLBACKS has '${entry}': each entry is an address (sileo://authentication_success, https://app.example/back), an origin (https://app.example), a scheme (app:) or loopback`,
      );
    } else if (opensAddress(new URL(entry))) {
      mistakes.push(`GATEWAY_CALLBACKS has '${entry}', which makes its application open another address`);
    } else addresses.push(address);
  }
  if (!httpAllowed && (loopback || addresses.some(({ protocol }) => protocol === 'http:'))) {
    mistakes.push('GATEWAY_CALLBACKS allows http callbacks in production; GATEWAY_ALLOW_HTTP=true permits that');
  }
  return { addresses, schemes, loopback };
};

// Schemes may have capitals, and blanks before them are of no account.
const isHttp = (text = ''): boolean => URL.parse(text)?.protocol === 'http:';

const checkTogether = (
  environment: Readonly<Record<string, string | undefined>>,
  httpAllowed: boolean,
  { publicAddress }: Surroundings,
): string[] => {
  const { GATEWAY_OIDC_ISSUER, GATEWAY_OIDC_CLIENT_ID, GATEWAY_OIDC_CLIENT_SECRET } = environment;
  const mistakes: string[] = [];
  if (!httpAllowed && publicAddress.startsWith('http:')) {
    mistakes.push('the public address must begin with https:// in production; GATEWAY_ALLOW_HTTP=true permits http');
  }
  if (!httpAllowed && isHttp(GATEWAY_OIDC_ISSUER)) {
    mistakes.push('GATEWAY_OIDC_ISSUER must begin with https:// in production; GATEWAY_ALLOW_HTTP=true permits http');
  }
  const openId = { GATEWAY_OIDC_ISSUER, GATEWAY_OIDC_CLIENT_ID, GATEWAY_OIDC_CLIENT_SECRET };
  const missing = Object.entries(openId).filter(([, value]) => value === undefined);
  if (missing.length > 0 && missing.length < 3) {
    mistakes.push(...missing.map(([name]) => `${name} is missing: the OpenID settings go together`));
  }
  if (environment.GATEWAY_OIDC_ALLOW && missing.length === 3) {
    mistakes.push('GATEWAY_OIDC_ALLOW keeps nobody out: no provider is configured');
  }
  return mistakes;
};

const warnAbout = (environment: Environment, { schemes }: CallbackRules, publicAddress: string): string[] => {
  const { GATEWAY_CREDENTIAL_TTL: credentials, GATEWAY_REFRESH_TTL: refresh } = environment;
  const { protocol, hostname } = new URL(publicAddress);
  const plain = protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname);
  return [
    ...Array.from(
      schemes,
      (scheme) =>
        `GATEWAY_CALLBACKS allows every address of ${scheme} as a callback: credentials go to whatever its application does with them. Name the one that it signs in with, as in ${scheme}//host`,
    ),
    ...(refresh <= credentials
      ? [
          `GATEWAY_REFRESH_TTL (${refresh}) is not more than GATEWAY_CREDENTIAL_TTL (${credentials}): credentials are refreshed when they have expired, so none can be, and every device has to sign in again`,
        ]
      : []),
    ...(plain ? [`Passwords and credentials travel unprotected: the public address is ${publicAddress}`] : []),
  ];
};

const toConfiguration = (
  environment: Environment,
  callbacks: CallbackRules,
  { publicAddress, state }: Surroundings,
): GatewayConfiguration => {
  const { GATEWAY_OIDC_ISSUER, GATEWAY_OIDC_CLIENT_ID, GATEWAY_OIDC_CLIENT_SECRET, GATEWAY_OIDC_NAME } = environment;
  return {
    settings: {
      publicAddress: publicAddress.replace(/\/+$/, ''),
      callbacks,
      credentialLife: environment.GATEWAY_CREDENTIAL_TTL * 1000,
      refreshLife: environment.GATEWAY_REFRESH_TTL * 1000,
      signInRate: environment.GATEWAY_SIGN_IN_RATE,
      deviceKey: environment.GATEWAY_DEVICE_KEY,
      introspectionSecrets: environment.GATEWAY_INTROSPECTION_SECRETS ?? [],
    },
    store: toStoreLocation(environment, state),
    auditFile: auditFileIn(state),
    openId:
      GATEWAY_OIDC_ISSUER && GATEWAY_OIDC_CLIENT_ID && GATEWAY_OIDC_CLIENT_SECRET
        ? {
            issuer: GATEWAY_OIDC_ISSUER,
            clientId: GATEWAY_OIDC_CLIENT_ID,
            clientSecret: GATEWAY_OIDC_CLIENT_SECRET,
            label: GATEWAY_OIDC_NAME ?? new URL(GATEWAY_OIDC_ISSUER).host,
            insecure: isHttp(GATEWAY_OIDC_ISSUER),
            scope: environment.GATEWAY_OIDC_SCOPE ?? 'openid profile email',
            allow: environment.GATEWAY_OIDC_ALLOW,
          }
        : undefined,
    passwordChecks: environment.GATEWAY_PASSWORD_CHECKS,
    warnings: warnAbout(environment, callbacks, publicAddress),
  };
};

const toStoreLocation = (
  {
    GATEWAY_DATABASE_URL: url,
    GATEWAY_DATABASE_POOL: pool,
  }: Pick<Environment, 'GATEWAY_DATABASE_URL' | 'GATEWAY_DATABASE_POOL'>,
  state: string,
): StoreLocation =>
  url ? { kind: 'postgres', url: asVerifyFull(url), pool } : { kind: 'sqlite', file: `${state}/gateway.sqlite` };
