import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { encodeFolderName } from '../contract/filenames.ts';
import { slugPattern } from '../contract/manifest.ts';
import { assertReplaceable, hasRegularFile, readRegularFile } from '../disk/regular-file.ts';
import { mergeRecords, parseRecords, type RecordHistory, recordsText } from './record-history.ts';
import { rememberedSchema } from './snapshot.ts';
import { createTemporary, isMissing, isRefused, removeTemporaries, writeAtomically } from './snapshot-files.ts';

const repositorySchema = z.strictObject({
  /** When it first entered the catalog, ISO 8601; null if it has not yet. */
  addedAt: z.iso.datetime({ precision: 3 }).nullable(),
  /** Slugs under which it was published before, the oldest first. */
  formerSlugs: z.array(z.string().regex(slugPattern)),
  /** What the next snapshot is compared with if the store loses the last one. */
  remembered: rememberedSchema.nullable(),
});

/** What is known of a repository from neither its origin nor its snapshot. */
export type RepositoryHistory = Readonly<z.infer<typeof repositorySchema>>;

const noHistory: RepositoryHistory = { addedAt: null, formerSlugs: [], remembered: null };

// The folder's name contains the version of the format, so that another format has a folder of its own.
const formatVersion = 'v1';

/**
 * Knowledge that cannot be derived from anything else, kept beside the snapshots and the catalog, which may be
 * replaced: one folder for each repository, with `repository.json` and `records.json` (when its records were first
 * seen). A damaged file counts as missing, and is named in `damaged`; one that may not be read is an error of the system,
 * because it would be written anew. The records of a repository are read only when it changes, because reading all of
 * them would cost an unchanged build more than everything else. The history of a repository that left the manifest stays
 * in case it returns: some 70 bytes for each of its records. Only one process at a time may write.
 */
export class HistoryStore {
  /** Files that exist but could not be read so far. */
  readonly damaged: string[] = [];
  readonly #root: string;
  readonly #withheld = new Map<string, unknown>();

  /** `directory` need not exist yet. */
  constructor(directory: string) {
    this.#root = join(directory, formatVersion);
  }

  /** What is known of a repository; an empty history if nothing is. */
  async read(slug: string): Promise<RepositoryHistory> {
    const file = this.#file(slug, 'repository.json');
    return (await this.#parse(file, (text) => repositorySchema.parse(JSON.parse(text)))) ?? noHistory;
  }

  /** Replaces these parts of a repository's history. If nothing changes, nothing is written. */
  async update(slug: string, change: Partial<RepositoryHistory>): Promise<void> {
    const before = await this.read(slug);
    const next = repositorySchema.parse({ ...before, ...change });
    if (JSON.stringify(next) === JSON.stringify(before)) return;
    await this.#write(this.#file(slug, 'repository.json'), `${JSON.stringify(next, null, 1)}\n`);
  }

  /** When the records of a repository were first seen; undefined if that is not known. */
  async readRecords(slug: string): Promise<RecordHistory | undefined> {
    return this.#parse(this.#file(slug, 'records.json'), parseRecords);
  }

  /** Whether anything is stored about the records of a repository. Throws an error of the system if that may not be read. */
  hasRecords(slug: string): boolean {
    return hasRegularFile(this.#file(slug, 'records.json'));
  }

  async writeRecords(slug: string, records: RecordHistory): Promise<void> {
    await this.#write(this.#file(slug, 'records.json'), recordsText(records));
  }

  /** Throws the error of the system if nothing may be written of a repository. */
  async assertWritable(slug: string): Promise<void> {
    const folder = this.#folder(slug);
    await mkdir(folder, { recursive: true });
    const { path, handle } = await createTemporary(folder);
    await handle.close();
    await rm(path);
    for (const name of ['repository.json', 'records.json']) assertReplaceable(this.#file(slug, name));
  }

  /** Removes what an interrupted build left behind. */
  async removeTemporary(slug: string): Promise<void> {
    await removeTemporaries(this.#folder(slug));
  }

  /**
   * Transfers what is known under a former slug to the present one. If both know a record, the earlier sight counts.
   * Returns whether there was anything. It can be repeated if it was interrupted.
   */
  async adopt(slug: string, former: string): Promise<boolean> {
    const old = await this.read(former);
    const oldRecords = await this.readRecords(former);
    if (JSON.stringify(old) === JSON.stringify(noHistory) && oldRecords === undefined) return false;
    if (oldRecords) {
      const records = await this.readRecords(slug);
      await this.writeRecords(slug, records ? mergeRecords(records, oldRecords) : oldRecords);
    }
    const { addedAt, formerSlugs, remembered } = await this.read(slug);
    const added = [addedAt, old.addedAt].filter((moment) => moment !== null).sort();
    await this.update(slug, {
      addedAt: added[0] ?? null,
      // If it is among them already, an earlier call was interrupted before the removal.
      formerSlugs: [
        ...new Set(
          formerSlugs.includes(former)
            ? [...formerSlugs, ...old.formerSlugs]
            : [...old.formerSlugs, former, ...formerSlugs],
        ),
      ].filter((one) => one !== slug),
      remembered: remembered ?? old.remembered,
    });
    await rm(this.#folder(former), { recursive: true, force: true });
    return true;
  }

  /**
   * Has every later look at the history of a repository throw `reason`: while a part of it, under a former slug, cannot be
   * transferred, the repository would look newer than it is.
   */
  withhold(slug: string, reason: unknown): void {
    this.#withheld.set(slug, reason);
  }

  /** Records a slug under which the repository was published before. */
  async addFormerSlug(slug: string, former: string): Promise<void> {
    const { formerSlugs } = await this.read(slug);
    if (!formerSlugs.includes(former)) await this.update(slug, { formerSlugs: [...formerSlugs, former] });
  }

  #folder(slug: string): string {
    if (!slugPattern.test(slug)) throw new Error(`no repository has the slug ${JSON.stringify(slug)}`);
    return join(this.#root, encodeFolderName(slug));
  }

  #file(slug: string, name: string): string {
    if (this.#withheld.has(slug)) throw this.#withheld.get(slug);
    return join(this.#folder(slug), name);
  }

  async #parse<T>(file: string, parse: (text: string) => T): Promise<T | undefined> {
    try {
      return parse((await readRegularFile(file)).toString());
    } catch (error) {
      if (isRefused(error)) throw error;
      if (!isMissing(error) && !this.damaged.includes(file)) this.damaged.push(file);
      return undefined;
    }
  }

  async #write(file: string, text: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    await writeAtomically(file, text, { durable: true });
  }
}
