import { lstat, mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeAtomically } from '../../src/snapshots/snapshot-files.ts';

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

// What is below a folder, folders after what they hold. Links are never followed: one that stands where a file or a
// folder of ours belongs is taken away, or we would write outside.
const list = async (folder: string, below = ''): Promise<{ path: string; isFolder: boolean }[]> => {
  const found: { path: string; isFolder: boolean }[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...(await list(folder, path)), { path, isFolder: true });
    else if (entry.isFile()) found.push({ path, isFolder: false });
    else await rm(join(folder, path));
  }
  return found;
};

/** The bytes of a file; undefined where there is none. */
export const readIfPresent = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

/**
 * Makes a folder hold exactly these files, given by path with `/`: new and changed ones are written in the order given,
 * each at once (by rename), the others keep their bytes and times, and what is not among them is removed at the end.
 */
export const writeTree = async (folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> => {
  const found = await lstat(folder).catch(() => undefined);
  if (found && !found.isDirectory()) await rm(folder);
  await mkdir(folder, { recursive: true });
  const present = await list(folder);
  for (const [path, content] of files) {
    const target = join(folder, path);
    if ((await readIfPresent(target))?.equals(content)) continue;
    await mkdir(dirname(target), { recursive: true });
    await writeAtomically(target, content, { durable: false });
  }
  for (const { path, isFolder } of present) {
    if (files.has(path)) continue;
    if (!isFolder) await rm(join(folder, path));
    else if ((await readdir(join(folder, path))).length === 0) await rmdir(join(folder, path));
  }
};
