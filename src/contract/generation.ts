import { z } from 'zod';
import { apiRoot } from './paths.ts';

// What a publication says about itself, for programs that take all of it (decisions, section 8, "Publication").

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const counting = z.int().min(1);

// The name before this ending is the SHA-256 of the text.
const inventoryEnding = '.txt.zst';
export const differencesEnding = '.differences.txt.zst';

/** The paths of files about generations, both below the output folder and below the base address. */
export const generationPath = {
  /** Written last, when everything that it names exists. */
  current: `${apiRoot}/generation.json`,
  signature: `${apiRoot}/generation.jws`,
  /**
   * The same signature, under the SHA-256 of what it signs, so that it matches whichever of the two is read or written
   * first.
   */
  signatureOf: (digest: string): string => `${apiRoot}/signatures/${digest}.jws`,
  catalog: (digest: string): string => `${apiRoot}/catalog/${digest}.sqlite.zst`,
  changes: (number: number): string => `${apiRoot}/changes/${number}.json`,
  inventory: (digest: string): string => `${apiRoot}/inventory/${digest}${inventoryEnding}`,
  differences: (digest: string): string => `${apiRoot}/inventory/${digest}${differencesEnding}`,
  portions: (digest: string): string => `${apiRoot}/portions/${digest}.json`,
  portion: (digest: string): string => `${apiRoot}/portions/${digest}.portion`,
} as const;

/** The folders with files of former generations. */
export const catalogFolder = `${apiRoot}/catalog`;
export const changesFolder = `${apiRoot}/changes`;
export const inventoryFolder = `${apiRoot}/inventory`;
export const signaturesFolder = `${apiRoot}/signatures`;
/** The folder of the catalog as rows. Its files belong to the generation that names them, and are in its inventory. */
export const portionsFolder = `${apiRoot}/portions`;

const folders = [catalogFolder, changesFolder, inventoryFolder, signaturesFolder, portionsFolder].map(
  (folder) => `${folder}/`,
);

// A name directly in such a folder. The path may come from a request, and contain "..".
const plainName = /^[^./\\][^/\\]*$/;

/** Whether a path is that of a file about generations. Except for portions, these belong to no generation. */
export const tellsOfGenerations = (path: string): boolean =>
  path === generationPath.current ||
  path === generationPath.signature ||
  folders.some((folder) => path.startsWith(folder) && plainName.test(path.slice(folder.length)));

/** Whether a path is that of a signature of a generation. */
export const isSignature = (path: string): boolean =>
  path === generationPath.signature || path.startsWith(`${signaturesFolder}/`);

/** Whether a text has the form of a signature: a detached JWS (RFC 7515, appendix F), whoever signed. */
export const isDetachedJws = (text: string): boolean => /^[\w-]+\.\.[\w-]+$/.test(text.trim());

/**
 * Whether a path may be that of a file of a generation: not that of a file about generations, nor any other path in the
 * folders of those, or in place of them, where nothing else is looked for.
 */
export const mayBePublished = (path: string): boolean =>
  (path.startsWith(`${portionsFolder}/`) && tellsOfGenerations(path)) ||
  !(tellsOfGenerations(path) || path === apiRoot || folders.some((folder) => `${path}/`.startsWith(folder)));

/** How many of the newest are kept: catalogs, inventories, their differences and signatures, and change lists. */
export const keptCatalogs = 3;
export const keptChangeLists = 100;

/** One complete, consistent state of what is published. */
export const generationSchema = z.strictObject({
  format: z.literal(1),
  number: counting.describe(
    'One more than that of the generation before, or greater where an older publication was restored in between; 1 for the first.',
  ),
  date: z.iso.datetime(),
  previous: counting.nullable().describe('The number of the generation before; null where that is not known.'),
  catalog: z
    .strictObject({
      path: z.string().describe('Relative to the address of the host, as every path here.'),
      sha256: sha256.describe('Of the plain file.'),
      size: counting.describe('Bytes of the plain file.'),
      compressed_size: counting.describe('Bytes of the file at `path`.'),
    })
    .describe('The whole index as an SQLite database, compressed (zstd).'),
  documents: z.strictObject({
    count: counting.describe('How many files are published, those that tell of generations left out.'),
    /**
     * SHA-256 of the inventory, a text with a line for each of these files, ordered by path as UTF-8: the SHA-256 of
     * the file's bytes in hex, two spaces, its path, a line feed. `sha256sum` prints and checks this format.
     */
    digest: sha256.describe(
      'SHA-256 of the inventory: a line for each of these files, as `sha256sum` prints it, in the order of their paths.',
    ),
    inventory: z
      .string()
      .describe('Where that text is, compressed (zstd); with `differences`, where that of an earlier generation is.'),
    /**
     * Where the lines are, compressed, in which that text differs from the one at `inventory`, in the same form and
     * order: lines for files that are new or have other bytes, and lines with 64 zeros for files that are gone.
     */
    differences: z
      .string()
      .optional()
      .describe('Where the lines are in which the inventory differs from the text at `inventory`, compressed (zstd).'),
  }),
  changes: z.string().describe('Where the changes since the generation before are.'),
  portions: z
    .strictObject({ path: z.string(), sha256 })
    .optional()
    .describe('Where the list of the portions of the catalog is, if it has any, and its SHA-256.'),
});
export type Generation = Readonly<z.infer<typeof generationSchema>>;

/** The catalog of a generation as rows, for hosts that cannot open its file. */
export const portionListSchema = z.strictObject({
  format: z.literal(1),
  /** The version of the catalog's tables. */
  catalog_format: counting,
  /** The number of rows in each table. */
  rows: z.record(z.string(), z.int().min(0)),
  /** In the order in which they are to be taken. */
  portions: z.array(
    z.strictObject({
      table: z.string(),
      /**
       * The first column of the key of its first row; null for the first portion of a table, which begins before all
       * keys.
       */
      first: z.union([z.number(), z.string()]).nullable(),
      rows: z.int().min(0),
      /**
       * Of the text: lines of JSON, one for each row. It is in the folder of this list under this name, compressed
       * (gzip). A portion without rows has no file.
       */
      sha256,
      /** Bytes of the text, and of the file. */
      size: z.int().min(0),
      compressed_size: z.int().min(0),
    }),
  ),
});
export type PortionList = Readonly<z.infer<typeof portionListSchema>>;

/** What happened to a package in a repository. */
export const packageChangeSchema = z.strictObject({
  package_id: z.string(),
  repository: z.string().describe('The slug of the repository.'),
  change: z.enum(['added', 'updated', 'removed']),
  version: z.string().nullable().describe('The newest version now; null where it is gone.'),
  previous_version: z.string().nullable().describe('The newest version before; null where there was none.'),
});
export type PackageChange = Readonly<z.infer<typeof packageChangeSchema>>;

/** What changed from the generation before to this one. */
export const changeListSchema = z.strictObject({
  format: z.literal(1),
  number: counting.describe('The number of the generation that these changes led to.'),
  date: z.iso.datetime(),
  previous: counting
    .nullable()
    .describe(
      'The number of the generation from which they lead; null where that is not known, and all is to be taken anew.',
    ),
  documents: z.strictObject({
    written: z.array(z.string()).describe('The paths of the files that are new or have other bytes, in order.'),
    removed: z.array(z.string()).describe('The paths of the files that are gone, in order.'),
  }),
  packages: z
    .array(packageChangeSchema)
    .describe(
      'What happened to packages of repositories that were there before and still are. Those of a repository that is new or gone are not listed: all of them came or went with it.',
    ),
});
export type ChangeList = z.infer<typeof changeListSchema>;
