import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** The path of what is or will be there, behind all links. */
const resolveLinks = (folder: string): string => {
  const absolute = path.resolve(folder);
  if (existsSync(absolute)) return realpathSync(absolute);
  const parent = path.dirname(absolute);
  return parent === absolute ? absolute : path.join(resolveLinks(parent), path.basename(absolute));
};

/** Whether a folder is another one or lies in it, behind all links, whether they are there already or not. */
export const isWithin = (folder: string, other: string): boolean => {
  const relative = path.relative(resolveLinks(other), resolveLinks(folder));
  // A name may begin with two dots and lie in it.
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
};
