import { z } from 'zod';
import type { Operation } from './paths.ts';

// The requests and answers of the payment gateway (protocol, "Endpoints"; decisions, section 6). The gateway reads
// requests with these schemas, and the description of the API shows them.

// A line break in a device's name would forge a line wherever the name is printed.
const text = (maximum: number) =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(maximum, `must be at most ${maximum} characters`)
    .regex(/^\P{Control}*$/u, 'must not contain control characters');
const token = z.string('must be a string').min(1, 'must not be empty').max(512, 'must be at most 512 characters');

/** The body of a sign-in. */
export const signInSchema = z.strictObject({
  callback: text(2048).describe('Address of the application to return to after the sign-in.'),
  udid: text(256).describe('Identifier of the device.'),
  model: text(256).describe('Model of the device, shown to people without control and formatting characters.'),
});

/** The three credentials of one set, as in requests and answers. */
export const credentialsSchema = z.strictObject({
  auth_token: token.describe('Opaque; sent with authenticated requests as "Authorization: Bearer".'),
  payment_secret: token.describe('Opaque; for payments.'),
  refresh_token: token.describe('Opaque; works for one refresh.'),
});

/** The body of an introspection. */
export const introspectionSchema = z.strictObject({
  token: token.describe('The auth token to ask about.'),
  payment_secret: token.optional().describe('If given, it must be of the same set, or the token is not active.'),
  udid: text(256).optional().describe('If given, it must be the identifier of the device, or the token is not active.'),
});

const message = z.literal('200 Successful');
const date = z.iso.datetime({ precision: 3 }).describe('Now.');
const moment = z.iso.datetime({ precision: 3 });

const signInAnswerSchema = z.strictObject({ auth_url: z.url().describe('The page to open in a browser.') });
const revokedSchema = z.strictObject({ message, date });
const accountSchema = z.strictObject({
  message,
  date,
  data: z.strictObject({
    name: z.string().describe('Name of the account.'),
    display_name: z.string().describe('Name to show.'),
    device: z.strictObject({ model: z.string(), signed_in: moment.describe('When this device signed in.') }),
    expires: moment.describe('When the auth token expires.'),
  }),
});
const introspectedSchema = z.discriminatedUnion('active', [
  z.strictObject({ active: z.literal(false) }),
  z.strictObject({
    active: z.literal(true),
    token_type: z.literal('Bearer'),
    sub: z.string().describe('Identifier of the account.'),
    username: z.string().describe('Name of the account.'),
    exp: z.number().int().describe('When the token expires, in seconds since 1970.'),
    model: z.string().describe('Model of the device.'),
  }),
]);

/** The operations of the gateway for programs. Its pages are for people. */
export const gatewayOperations = {
  authenticate: {
    method: 'POST',
    address: '/authenticate',
    tag: 'gateway',
    summary: 'Begin a sign-in',
    body: signInSchema,
    schema: signInAnswerSchema,
    errors: [413, 415, 429],
  },
  refresh: {
    method: 'POST',
    address: '/refresh',
    tag: 'gateway',
    summary: 'Exchange expired credentials for new ones',
    body: credentialsSchema,
    schema: credentialsSchema,
    errors: [401, 409, 413, 415],
  },
  revoke: {
    method: 'POST',
    address: '/revoke',
    tag: 'gateway',
    summary: 'Sign a device out',
    body: credentialsSchema,
    schema: revokedSchema,
    errors: [401, 413, 415],
  },
  account: {
    method: 'GET',
    address: '/account',
    tag: 'gateway',
    summary: 'The signed-in account',
    schema: accountSchema,
    errors: [401],
    bearer: 'authToken',
  },
  introspect: {
    method: 'POST',
    address: '/introspect',
    tag: 'gateway',
    summary: 'Whether an auth token is active, for download servers with a secret',
    body: introspectionSchema,
    schema: introspectedSchema,
    errors: [401, 404, 413, 415, 429],
    bearer: 'introspectionSecret',
  },
} as const satisfies Record<string, Operation>;

/** The first words, below the API's root, of all its addresses: those of its operations, and of its pages. */
export const gatewayWords: readonly string[] = [
  ...Object.values(gatewayOperations).map(({ address }) => address.slice(1)),
  'login',
  'devices',
];

/** The path at which a Worker accepts its operator's commands. */
export const operatorPath = '/v2/operator';

/** The schemas that have a name in the description. */
export const gatewayAnswers = {
  SignInAnswer: signInAnswerSchema,
  Credentials: credentialsSchema,
  Revoked: revokedSchema,
  Account: accountSchema,
  Introspected: introspectedSchema,
} as const;
export const gatewayBodies = { SignIn: signInSchema, Introspection: introspectionSchema } as const;
