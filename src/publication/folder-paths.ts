import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** The path of an existing or future file, with all links resolved. */
const resolveLinks = (folder: string): string => {
  const absolute = path.resolve(folder);
  if (existsSync(absolute)) return realpathSync(absolute);
  const parent = path.dirname(absolute);
  return parent === absolute ? absolute : path.join(resolveLinks(parent), path.basename(absolute));
};

/** Whether a folder is the same as another or inside it, with all links resolved, whether or not they exist. */
export const isWithin = (folder: string, other: string): boolean => {
  const relative = path.relative(resolveLinks(other), resolveLinks(folder));
  // A name inside the folder may begin with two dots.
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
};
