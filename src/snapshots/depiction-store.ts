import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Depiction, depictionSchema } from '../depictions/depiction.ts';
import { depictionFile, depictionsFolder, parseKept } from '../depictions/kept-depiction.ts';
import { isTemporary, writeAtomically } from './snapshot-files.ts';

const listedSchema = z.strictObject({
  url: z.string(),
  /** The validators that it last came with, if something of it is kept. */
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  /** It is not requested before this moment; null if it was never requested. */
  nextAt: z.iso.datetime({ precision: 3 }).nullable(),
  kept: z.boolean(),
  /** Why the last request gave nothing usable. */
  why: z.string().nullable(),
});

/** A depiction that packages of a repository name, and the result of requesting it. */
export type ListedDepiction = Readonly<z.infer<typeof listedSchema>>;

const listSchema = z.strictObject({
  /** Hashes of the indexes that name them. */
  source: z.array(z.string()),
  depictions: z.array(listedSchema),
});

/** The depictions of a repository, in the order in which its index first names them. */
export type DepictionList = Readonly<z.infer<typeof listSchema>>;

const listName = 'list.json';

/**
 * Kept native depictions, beside the snapshot of each repository, with which they come and go: `list.json`, and a file
 * for each depiction with what may be shown of it. An unreadable list counts as none; its depictions are then requested
 * again, as slowly as the first time. Only one process at a time may write.
 */
export class DepictionStore {
  /** The folder of all snapshots. */
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  async readList(slug: string): Promise<DepictionList | undefined> {
    try {
      return listSchema.parse(JSON.parse(await readFile(join(this.#folder(slug), listName), 'utf8')));
    } catch {
      return undefined;
    }
  }

  /** Replaces the list, and removes what was kept of depictions that are not on it or have no content now. */
  async writeList(slug: string, list: DepictionList): Promise<void> {
    const folder = this.#folder(slug);
    await mkdir(folder, { recursive: true });
    await writeAtomically(join(folder, listName), `${JSON.stringify(listSchema.parse(list))}\n`, { durable: false });
    const kept = new Set(list.depictions.flatMap(({ url, kept }) => (kept ? [depictionFile(url)] : [])));
    for (const name of await readdir(folder)) {
      if (isTemporary(name) || (name !== listName && !kept.has(name))) await rm(join(folder, name), { force: true });
    }
  }

  /** Whether the kept content of a depiction exists and is as it was written. */
  async isSound(slug: string, url: string): Promise<boolean> {
    const text = await readFile(join(this.#folder(slug), depictionFile(url)), 'utf8').catch(() => '');
    return parseKept(text) !== undefined;
  }

  async write(slug: string, url: string, depiction: Depiction): Promise<void> {
    const folder = this.#folder(slug);
    await mkdir(folder, { recursive: true });
    const text = `${JSON.stringify(depictionSchema.parse(depiction))}\n`;
    await writeAtomically(join(folder, depictionFile(url)), text, { durable: false });
  }

  #folder(slug: string): string {
    return depictionsFolder(this.root, slug);
  }
}
