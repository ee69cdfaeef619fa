import { existsSync } from 'node:fs';
import path from 'node:path';

const programFolders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];
/** The path of an installed program; undefined if it is not installed. */
export const findProgram = (name: string): string | undefined =>
  programFolders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
