import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { knowsNoFlush } from '../disk/flush-file.ts';

const prefix = 'tmp-';

/** Whether a file with this name was left by `createTemporary` in a crash. */
export const isTemporary = (name: string): boolean => name.startsWith(prefix);

/** Whether a file could not be read because it, or its folder, does not exist. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

const refusals: ReadonlySet<unknown> = new Set([
  ...['EACCES', 'EPERM', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EIO'],
  // What is no file is never replaced by one.
  ...['EISDIR', 'EINVAL', 'ENOTDIR', 'ELOOP'],
]);

/**
 * Whether a file could not be read or written because of its owner, its disk, for want of open files or memory, or because
 * something else is in its place: it may be whole. A full disk is none of these, because it has room for nobody.
 */
export const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && refusals.has(error.code);

/** Whether a file could not be read because the disk has lost it: waiting or another owner does not bring it back. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EIO';

/** Creates a new file in `directory` with a unique name. */
export const createTemporary = async (directory: string): Promise<{ path: string; handle: FileHandle }> => {
  const path = join(directory, `${prefix}${randomUUID()}`);
  return { path, handle: await open(path, 'wx') };
};

/** Removes what interrupted writes left in a directory, if there is one. */
export const removeTemporaries = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory).catch(() => [])) {
    if (isTemporary(name)) await rm(join(directory, name), { force: true });
  }
};

/** Makes the names in a directory durable, if the system can do that. */
export const syncDirectory = async (directory: string): Promise<void> => {
  await using handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!knowsNoFlush(error)) throw error;
  }
};

/**
 * Writes a file so that readers, and a machine that stops at any moment, see the old content or the new, never a part.
 * With `durable`, the new content is on disk when the promise resolves.
 */
export const writeAtomically = async (
  path: string,
  content: string | Uint8Array,
  options: { durable: boolean },
): Promise<void> => {
  const directory = dirname(path);
  const temporary = await createTemporary(directory);
  try {
    await temporary.handle.writeFile(content);
    if (options.durable) await temporary.handle.sync();
    await temporary.handle.close();
    await rename(temporary.path, path);
  } catch (error) {
    await temporary.handle.close().catch(() => {});
    await rm(temporary.path, { force: true });
    throw error;
  }
  if (options.durable) await syncDirectory(directory);
};

/** Moves a finished file to its place. Its content, but not yet its name, is on disk when the promise resolves. */
export const moveDurably = async (from: string, to: string): Promise<void> => {
  {
    await using handle = await open(from, 'r+');
    await handle.sync();
  }
  await rename(from, to);
};
