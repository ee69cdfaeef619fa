import { z } from 'zod';

// The answers of older addresses, field for field: the form that programs written before /v2 expect.

const url = z.url({ protocol: /^https?$/ });
const text = z.string().nullable();

/** A repository in the form of older addresses. */
export const olderRepositorySchema = z.strictObject({
  slug: z.string(),
  aliases: z.array(z.string()).describe('Former slugs.'),
  uri: url,
  version: text.describe('Version of its Release.'),
  suite: z.string().describe('APT suite; "./" for a flat repository.'),
  component: text.describe('APT component; null for a flat repository.'),
  ranking: z.number().int().min(1).max(5).describe('1 is best, 5 is last.'),
  name: z
    .string()
    .describe('Name of the repository; its host where it has none, since programs leave out what has none.'),
});
export type OlderRepository = z.infer<typeof olderRepositorySchema>;

/** The latest version of a package in the form of older addresses. */
export const olderPackageSchema = z.strictObject({
  identifier: z.string(),
  architecture: z.string(),
  price: z.enum(['Free', 'Paid']),
  latestVersion: z.string(),
  name: text,
  description: text,
  author: text,
  maintainer: text,
  depiction: url.nullable().describe('Address of the web depiction.'),
  nativeDepiction: url.nullable(),
  header: url.nullable(),
  tintColor: text.describe(
    'Colour of the native depiction, where it is known without asking for that; nobody states it.',
  ),
  packageIcon: url.nullable(),
  section: text,
  repository: olderRepositorySchema,
});
export type OlderPackage = z.infer<typeof olderPackageSchema>;

/** A record with only the fields that a client asked for. Some programs need only the texts of a repository. */
const partOf = <T extends z.ZodObject>(schema: T) => schema.partial();

export const olderPackageFieldsSchema = partOf(olderPackageSchema).extend({
  repository: partOf(olderRepositorySchema).optional(),
});

/** Whether an address is on the safety list. */
const verdict = z.enum(['safe', 'unsafe']);
export const olderSafetySchema = z.strictObject({
  repositoryURI: z.string().describe('The address, unchanged.'),
  status: verdict,
});
export type OlderSafety = z.infer<typeof olderSafetySchema>;

/** What readers are told about the address that they used. */
export const olderNoticeSchema = z.strictObject({
  api: z.string().describe('That the address is old.'),
  data: z.string().describe('What replaces it.'),
  migration: z.string().describe('How long it stays.'),
});
export type OlderNotice = z.infer<typeof olderNoticeSchema>;

const message = z.literal('200 OK');
const date = z.iso.datetime({ precision: 3 });
const envelope = <T extends z.ZodType>(data: T) => z.strictObject({ notice: olderNoticeSchema, message, date, data });
/** The oldest programs look for this word before they read anything else. */
const checked = <T extends z.ZodType>(data: T) => envelope(data).extend({ status: z.literal('Successful') });

export const olderLandingSchema = envelope(
  z.strictObject({
    name: z.string(),
    version: z.string(),
    reference: z.strictObject({
      docs: url,
      privacy_policy: url,
      contact_email: z.email(),
      copyright: z.string(),
    }),
  }),
);
const packageOrFields = z.union([olderPackageSchema, olderPackageFieldsSchema]);
const repositoryOrFields = z.union([olderRepositorySchema, partOf(olderRepositorySchema)]);
export const olderPackageAnswerSchema = envelope(packageOrFields);
export const olderPackagesAnswerSchema = envelope(z.array(packageOrFields));
export const olderLookupAnswerSchema = envelope(
  z.array(z.strictObject({ package: z.string(), fields: z.array(packageOrFields) })),
);
export const olderRepositoriesAnswerSchema = envelope(z.array(repositoryOrFields));
export const olderSafetyAnswerSchema = envelope(z.union([verdict, z.array(olderSafetySchema)]));
export const olderCheckAnswerSchema = checked(z.union([olderSafetySchema, z.array(olderSafetySchema)]));

/** An error of an older address. Unlike under /v2, a 404 also has a sentence. */
export const olderErrorSchema = z.strictObject({
  notice: olderNoticeSchema,
  message: z.string(),
  date,
  error: z.string(),
});

/** An entry of `index-repositories.json`: what the manifest says of a repository. */
export const indexRepositorySchema = z.strictObject({
  aliases: z.array(z.string()).optional(),
  binary: z.string().optional(),
  bootstrap: z.boolean(),
  component: z.string().optional(),
  ranking: z.number().int().min(1).max(5),
  slug: z.string(),
  suite: z.string().describe('"./" for a flat repository.'),
  uri: url.describe('Without a slash at its end.'),
});
export type IndexRepository = z.infer<typeof indexRepositorySchema>;
export const indexRepositoriesSchema = z.array(indexRepositorySchema);

/** `piracy-repositories.json`. */
export const unsafeHostsSchema = z.array(z.string()).describe('Host names that are listed as unsafe, sorted.');
