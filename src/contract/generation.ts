import { z } from 'zod';
import { apiRoot } from './paths.ts';

// Decisions, section 8, "Publication": what a publication says of itself, for whoever takes it as a whole.

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const counting = z.int().min(1);

// Before them stands the SHA-256 of the text.
const inventoryEnding = '.txt.zst';
export const differencesEnding = '.differences.txt.zst';

/** Where the files stand that tell of generations, below the output folder and below the base address alike. */
export const generationPath = {
  /** Written last: what it names stands. */
  current: `${apiRoot}/generation.json`,
  signature: `${apiRoot}/generation.jws`,
  /** The same under the SHA-256 of what it signs, so that it fits whatever of the two is read, or written, first. */
  signatureOf: (digest: string): string => `${apiRoot}/signatures/${digest}.jws`,
  catalog: (digest: string): string => `${apiRoot}/catalog/${digest}.sqlite.zst`,
  changes: (number: number): string => `${apiRoot}/changes/${number}.json`,
  inventory: (digest: string): string => `${apiRoot}/inventory/${digest}${inventoryEnding}`,
  differences: (digest: string): string => `${apiRoot}/inventory/${digest}${differencesEnding}`,
  portions: (digest: string): string => `${apiRoot}/portions/${digest}.json`,
  portion: (digest: string): string => `${apiRoot}/portions/${digest}.portion`,
} as const;

/** The folders of what is kept of former generations. */
export const catalogFolder = `${apiRoot}/catalog`;
export const changesFolder = `${apiRoot}/changes`;
export const inventoryFolder = `${apiRoot}/inventory`;
export const signaturesFolder = `${apiRoot}/signatures`;
/** The folder of the catalog as rows. Its files belong to the generation that names them, and its inventory lists them. */
export const portionsFolder = `${apiRoot}/portions`;

const folders = [catalogFolder, changesFolder, inventoryFolder, signaturesFolder, portionsFolder].map(
  (folder) => `${folder}/`,
);

// Nothing below them: the path may be what somebody asks for, and have a ".." in it.
const plainName = /^[^./\\][^/\\]*$/;

/** Whether a path is that of a file that tells of generations; but for portions these belong to none. */
export const tellsOfGenerations = (path: string): boolean =>
  path === generationPath.current ||
  path === generationPath.signature ||
  folders.some((folder) => path.startsWith(folder) && plainName.test(path.slice(folder.length)));

/**
 * Whether a path may be that of a file of a generation: not of what tells of generations, nor of anything else in, or in
 * the way of, the folders of that, where nothing else is looked for.
 */
export const mayBePublished = (path: string): boolean =>
  (path.startsWith(`${portionsFolder}/`) && tellsOfGenerations(path)) ||
  !(tellsOfGenerations(path) || path === apiRoot || folders.some((folder) => `${path}/`.startsWith(folder)));

/** How many stay of the catalogs, of the inventories, of their differences and of the signatures, and of the change lists, the newest ones. */
export const keptCatalogs = 3;
export const keptChangeLists = 100;

/** One whole, consistent state of what is published. */
export const generationSchema = z.strictObject({
  format: z.literal(1),
  number: counting.describe('One more than that of the generation before; 1 for the first.'),
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
     * SHA-256 of the inventory: a text of one line for each of these files, in the order of their paths as UTF-8: the
     * SHA-256 of its bytes in hex, two spaces, its path, a line feed; what `sha256sum` prints and checks.
     */
    digest: sha256.describe(
      'SHA-256 of the inventory: a line for each of these files, as `sha256sum` prints it, in the order of their paths.',
    ),
    inventory: z
      .string()
      .describe('Where that text is, compressed (zstd); with `differences`, where that of an earlier generation is.'),
    /**
     * Where the lines are, compressed, in which that text differs from the one at `inventory`, in the same form and order:
     * of files that are not in it, or have other bytes, and with 64 zeros of those that are no longer there.
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
    .describe(
      'Where the list is of the portions in which the catalog is published as rows, if it is, and its SHA-256.',
    ),
});
export type Generation = Readonly<z.infer<typeof generationSchema>>;

/** The catalog of a generation as rows, for hosts that cannot open its file. */
export const portionListSchema = z.strictObject({
  format: z.literal(1),
  /** The version of the catalog's tables. */
  catalog_format: counting,
  /** How many rows each table has. */
  rows: z.record(z.string(), z.int().min(0)),
  /** In the order in which they are to be taken. */
  portions: z.array(
    z.strictObject({
      table: z.string(),
      /** The first column of the key of its first row; null for the first portion of a table, which begins before every key. */
      first: z.union([z.number(), z.string()]).nullable(),
      rows: z.int().min(0),
      /**
       * Of the text: lines of JSON, one for each row. It stands compressed (gzip) in the folder of this list, under this
       * name; one without rows stands nowhere.
       */
      sha256,
      /** Bytes of the text, and of the file. */
      size: z.int().min(0),
      compressed_size: z.int().min(0),
    }),
  ),
});
export type PortionList = Readonly<z.infer<typeof portionListSchema>>;

/** What became of a package in a repository. */
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
  packages: z.array(packageChangeSchema),
});
export type ChangeList = z.infer<typeof changeListSchema>;
