import { z } from 'zod';
import { UploadError } from './upload-error.ts';

// What an upload leaves at its destination for the next one, beside the publication and under names that no document
// has. Readers do not need it.

/** The record: who is uploading, which uploads did not end, and how the files at the destination were sent. */
export const recordName = '.debdex/upload.json';
/** The list of files that are no longer published and still exist at the destination. */
export const retiredName = '.debdex/retired.json';

const holderSchema = z.strictObject({
  id: z.string(),
  /** A digest that identifies the machine. */
  host: z.string(),
  pid: z.int(),
  since: z.iso.datetime(),
});
/** The upload that holds the right to write, as it names itself. */
export type Holder = Readonly<z.infer<typeof holderSchema>>;

const intendedSchema = z.strictObject({
  digest: z.string(),
  inventory: z.string(),
  differences: z.string().optional(),
  catalog: z.string(),
  signature: z.string().optional(),
  /** Whether it looked for every file, whatever the records said; left out if it did not. */
  isDoubtful: z.literal(true).optional(),
});
/** A generation that an upload intended to send. */
export type Intended = Readonly<z.infer<typeof intendedSchema>>;

const recordSchema = z.strictObject({
  format: z.literal(1),
  holder: holderSchema.nullable(),
  /** Increases with each renewal of the claim. */
  turn: z.int(),
  /**
   * Generations whose uploads did not end, the latest last: any of their files may exist at the destination. Empty if
   * the destination contains what its inventory says.
   */
  intended: z.array(intendedSchema),
  /** The forms in which the files in force were sent. */
  forms: z.array(z.string()),
  /** The catalogs, inventories, differences and signatures at the destination, the latest first. */
  catalogs: z.array(z.string()),
  inventories: z.array(z.string()),
  differences: z.array(z.string()).default([]),
  signatures: z.array(z.string()).default([]),
});
/** The record without the fields about its holder. */
export type UploadRecord = Readonly<Omit<z.infer<typeof recordSchema>, 'format' | 'holder' | 'turn'>>;
/** The whole record, with the fields about its holder. */
export type HeldRecord = Readonly<z.infer<typeof recordSchema>>;

const retiredSchema = z.strictObject({
  format: z.literal(1),
  /** Each name that is no longer published, the path of the file that had it, and since when. */
  retired: z.array(z.tuple([z.string(), z.string(), z.iso.datetime()])),
});
/** The files that are no longer published and still exist, by name: the path of each, and since when. */
export type Retired = ReadonlyMap<string, RetiredEntry>;
export interface RetiredEntry {
  readonly path: string;
  readonly since: string;
}

export const newRecord: UploadRecord = {
  ...{ intended: [], forms: [] },
  ...{ catalogs: [], inventories: [], differences: [], signatures: [] },
};

const parse = <T>(schema: z.ZodType<T>, bytes: Buffer, name: string, title: string): T => {
  try {
    return schema.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new UploadError(
      `${name} at ${title} is damaged, or written by another version of Debdex: update, or remove that file, and everything is looked at anew.`,
      { cause },
    );
  }
};

/** What a record says besides who is writing. */
export const withoutHolder = ({ format: _, holder: __, turn: ___, ...record }: HeldRecord): UploadRecord => record;
/** Reads a record. Throws UploadError, which names the destination by its `title`, if it is damaged. */
export const parseRecord = (bytes: Buffer, title: string): HeldRecord => parse(recordSchema, bytes, recordName, title);
/** The bytes of a record, as `parseRecord` reads them. */
export const formatRecord = (record: HeldRecord): Buffer => Buffer.from(JSON.stringify(record));

/** Reads the list of retired files; undefined stands for an empty one. Throws UploadError if it is damaged. */
export const parseRetired = (bytes: Buffer | undefined, title: string): Retired => {
  const entries = bytes === undefined ? [] : parse(retiredSchema, bytes, retiredName, title).retired;
  return new Map(entries.map(([name, path, since]) => [name, { path, since }]));
};
/** The bytes of the list, as `parseRetired` reads them. */
export const formatRetired = (retired: Retired): Buffer => {
  const entries = [...retired].map(([name, { path, since }]) => [name, path, since]);
  return Buffer.from(JSON.stringify({ format: 1, retired: entries }));
};
