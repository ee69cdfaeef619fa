import { z } from 'zod';
import { mustBeText } from './mistakes.ts';

/** The form of a repository's slug (decisions, section 7). */
export const slugPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Equal for two slugs that must not be in the same manifest, because they differ at most in letter case. */
export const slugKey = (slug: string): string => slug.toLowerCase();

// The message for a value of another type; a missing value has a different one.
const must =
  (words: string) =>
  ({ input }: { readonly input?: unknown }): string | undefined =>
    input === undefined ? undefined : `must ${words}`;

/** A repository's slug: the identifier in addresses, compared exactly. */
const slugSchema = z
  .string()
  .regex(slugPattern, 'must be 1 to 64 letters (A-Z, a-z), digits, ".", "_" and "-", and begin with a letter or digit')
  .describe('1 to 64 letters, digits, ".", "_" and "-", beginning with a letter or digit.');

/** The address of an APT repository. Credentials, queries and fragments mean nothing to APT, and would be published. */
const repositoryUri = z.string().superRefine((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  const url = URL.parse(text);
  if (url === null) return refuse('must be an absolute URL, such as https://repo.example.org/');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') return refuse('must not hold a user name or password');
  if (/[?#]/.test(text)) return refuse('must not hold a query or a fragment');
  if (/[\s\\]/.test(text)) return refuse('must not hold white space or backslashes');
  // Package managers refuse a whole answer because of one address that RFC 3986 does not allow, and this address is in
  // every record.
  if (!/^https?:\/\/(?:[\w.~-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?$/i.test(text)) {
    refuse('must be written as RFC 3986 has it: a host in ASCII (xn--...) and a percent-encoded path');
  }
});

// Parts of a path below the repository's address: segments of plain characters that do not begin with a dot.
const segmentsMessage = (what: string): string => `must be ${what}, without "." segments or blanks`;
const pathSegments = (what: string) =>
  z.string().regex(/^(?!\.)[A-Za-z0-9._+~-]+(?:\/(?!\.)[A-Za-z0-9._+~-]+)*$/, segmentsMessage(what));

const suiteName = 'a suite name such as "stable", or "./" for a flat repository';

// In the form that apt accepts inside Signed-By (sources.list(5)).
const publicKey = z
  .string()
  .max(200_000)
  .regex(
    /^\s*-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n[\s\S]*\n-----END PGP PUBLIC KEY BLOCK-----\s*$/,
    'must be an armoured public key, from "-----BEGIN PGP PUBLIC KEY BLOCK-----" to its end line',
  );

// Headers that belong to the connection, that the crawl uses for conditions and sizes, or that say who is asking.
const ownHeaders =
  /^(?:accept-encoding|connection|content-.*|expect|host|if-.*|keep-alive|proxy-.*|range|te|trailer|transfer-encoding|upgrade|user-agent)$/i;

const requestHeaders = z
  .record(
    // RFC 9110, sections 5.1 and 5.5.
    z
      .string()
      .max(64)
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header')
      .refine((name) => !ownHeaders.test(name), 'is a header that the crawler sets by itself'),
    z
      .string()
      .max(4096)
      .regex(/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII without blanks at its ends'),
    { error: must('be names and values of headers, such as {X-Machine: "iPhone10,1"}') },
  )
  .refine((headers) => Object.keys(headers).length <= 16, 'must be at most 16 headers');

// The fields that go with a suite, and these with it.
const indexParts = ['component', 'binary'] as const;
const suiteAndParts: ReadonlySet<unknown> = new Set(['suite', ...indexParts]);

/**
 * One entry of the manifest: what a person writes to have a repository indexed. Strict, so that a misspelt field is an
 * error rather than a silent default.
 */
export const manifestEntrySchema = z
  .strictObject({
    slug: slugSchema.describe('The identifier in addresses, compared exactly; the file is called after it.'),
    uri: repositoryUri.meta({
      description: 'The address of the repository, without a slash at its end.',
      pattern: '^https?://[^\\s?#\\\\]+$',
    }),
    suite: z
      .union([z.literal('./'), pathSegments(suiteName)], {
        error: ({ input }) => (typeof input === 'string' ? segmentsMessage(suiteName) : mustBeText),
      })
      .default('./')
      .describe('The folder below dists/, in quotes where it is a number; none for a flat repository.'),
    component: pathSegments('a component name such as "main"').optional().describe('Such as main; with a suite alone.'),
    binary: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]*$/, 'must be an architecture such as "iphoneos-arm64"')
      .optional()
      .describe('The architecture, such as iphoneos-arm64; with a suite alone.'),
    ranking: z
      .number({ error: must('be a whole number from 1 (best) to 5, without quotes') })
      .int('must be a whole number from 1 (best) to 5')
      .min(1, 'must be a whole number from 1 (best) to 5')
      .max(5, 'must be a whole number from 1 (best) to 5')
      .describe('1 is best, 5 is last.'),
    bootstrap: z.boolean().default(false).describe('Whether a jailbreak brings its packages.'),
    aliases: z
      .array(slugSchema, { error: must('be a list, such as [old-name]') })
      .default([])
      .describe('Other names that lead to it, such as former slugs.'),
    key: publicKey
      .optional()
      .describe(
        'The armoured public keys, one of which must have signed the Release: anything else then leaves the last good data in force.',
      ),
    headers: requestHeaders.optional().describe('Sent with every request to the origin of uri, and nowhere else.'),
  })
  .superRefine(
    (entry, context) => {
      const flat = entry.suite === './';
      for (const field of indexParts) {
        if (flat && entry[field] !== undefined) {
          context.addIssue({
            code: 'custom',
            path: [field],
            message: 'belongs to a dists/ repository: name its suite too',
          });
        } else if (!flat && entry[field] === undefined) {
          context.addIssue({ code: 'custom', path: [field], message: 'is required where suite is not "./"' });
        }
      }
    },
    // Whatever else is wrong with the entry, because all mistakes are said at once; but not of what is no entry, nor of a
    // suite that is none.
    {
      when: ({ issues }) =>
        issues.every(({ code, path: [field] = [] }) =>
          field === undefined ? code === 'unrecognized_keys' : !suiteAndParts.has(field),
        ),
    },
  )
  // The part of that rule that JSON Schema can express, for editors.
  .meta({ dependencies: { component: ['suite', 'binary'], binary: ['suite', 'component'] } });

/** A manifest entry with its defaults filled in. */
export type ManifestEntry = z.infer<typeof manifestEntrySchema>;

/** The parts of an entry that identify one index: uri, suite, component, binary. */
interface IndexAddress {
  readonly uri: string;
  readonly suite: string;
  readonly component?: string | null | undefined;
  readonly binary?: string | null | undefined;
}

/**
 * The address of an index in canonical form: equal for spellings that differ in trailing slashes or the case of the
 * host.
 */
export const addressKey = ({ uri, suite, component, binary }: IndexAddress): string =>
  [new URL(uri).href.replace(/\/+$/, ''), suite, component ?? '', binary ?? ''].join(' ');

/** The same without the scheme, in which lists differ. */
export const repositoryKey = (address: IndexAddress): string => addressKey(address).replace(/^https?:/, '');

/** The parts of an entry that concern other entries, and its key. */
export interface EntryParts {
  readonly slug: string | undefined;
  readonly aliases: readonly (string | undefined)[];
  /** As `addressKey` has it. */
  readonly address: string | undefined;
  readonly key: string | undefined;
}

const indexAddress = z.object({
  uri: manifestEntrySchema.shape.uri,
  suite: manifestEntrySchema.shape.suite,
  component: manifestEntrySchema.shape.component,
  binary: manifestEntrySchema.shape.binary,
});

/** These parts of an entry as written, whatever else is wrong with it. What is missing or wrong is undefined. */
export const readEntryParts = (written: unknown): EntryParts => {
  const { slug, aliases, key }: { slug?: unknown; aliases?: unknown; key?: unknown } = Object(written);
  const { shape } = manifestEntrySchema;
  const { data: address } = indexAddress.safeParse(written);
  return {
    slug: shape.slug.safeParse(slug).data,
    aliases: Array.isArray(aliases) ? aliases.map((alias) => shape.slug.safeParse(alias).data) : [],
    address: address && addressKey(address),
    key: shape.key.safeParse(key).data,
  };
};
