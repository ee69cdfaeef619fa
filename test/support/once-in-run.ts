import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/**
 * A folder of this name below another, with what is the same for all tests of a run: whoever comes first makes it. It is
 * made aside and appears whole, so that nobody finds a half of it.
 */
export const makeOnce = async (
  parent: string,
  name: string,
  make: (folder: string) => Promise<unknown>,
): Promise<string> => {
  const whole = path.join(parent, name);
  if (existsSync(whole)) return whole;
  const aside = mkdtempSync(path.join(parent, `${name}-`));
  await make(aside);
  try {
    renameSync(aside, whole);
  } catch (error) {
    // Another process of the tests was as early.
    rmSync(aside, { recursive: true, force: true });
    if (!existsSync(whole)) throw error;
  }
  return whole;
};
