import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Depiction, depictionSchema } from '../depictions/depiction.ts';
import { depictionFile, depictionsFolder, parseKept } from '../depictions/kept-depiction.ts';
import { isTemporary, writeAtomically } from './snapshot-files.ts';

const listedSchema = z.strictObject({
  url: z.string(),
  /** What it came with last, where something is kept of it. */
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  /** Not asked for before this moment; null where it never was. */
  nextAt: z.iso.datetime({ precision: 3 }).nullable(),
  kept: z.boolean(),
  /** Why nothing usable came when it was last asked for. */
  why: z.string().nullable(),
});

/** A depiction that packages of a repository name, and what came of asking for it. */
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
 * What was kept of native depictions, beside the snapshot of each repository, which it comes and goes with: `list.json`,
 * and a file for each that holds what may be shown of it. A list that cannot be read counts as none; what it knew is
 * asked for again, as slowly as the first time. One process at a time may write.
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

  /** Replaces the list, and removes what was kept of depictions that are not on it, or of which nothing is kept now. */
  async writeList(slug: string, list: DepictionList): Promise<void> {
    const folder = this.#folder(slug);
    await mkdir(folder, { recursive: true });
    await writeAtomically(join(folder, listName), `${JSON.stringify(listSchema.parse(list))}\n`, { durable: false });
    const kept = new Set(list.depictions.flatMap(({ url, kept }) => (kept ? [depictionFile(url)] : [])));
    for (const name of await readdir(folder)) {
      if (isTemporary(name) || (name !== listName && !kept.has(name))) await rm(join(folder, name), { force: true });
    }
  }

  /** Whether what was kept of a depiction is there and as it was written. */
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
