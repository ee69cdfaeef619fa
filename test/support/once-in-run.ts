import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const isAlive = (process_: number): boolean => {
  try {
    return process.kill(process_, 0);
  } catch {
    return false;
  }
};

/** Who notes so that it is at work; 0 where nobody does any more, or is about to. */
const ownerOf = (file: string): number => {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
};

/** Notes in a file, where there is none yet, that this process is at work. One that was left by a process that ended goes. */
const claim = (file: string): boolean => {
  try {
    writeFileSync(file, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch {
    const owner = ownerOf(file);
    if (owner !== 0 && !isAlive(owner)) rmSync(file, { force: true });
    return false;
  }
};

/**
 * A folder of this name below another, with what is the same for all tests of a run: whoever comes first makes it, and
 * others wait, since what one makes takes seconds of a processor. It is made aside and appears whole, so that nobody finds
 * a half of it.
 */
export const makeOnce = async (
  parent: string,
  name: string,
  make: (folder: string) => Promise<unknown>,
): Promise<string> => {
  const whole = path.join(parent, name);
  const claimed = `${whole}.claimed`;
  while (!existsSync(whole) && !claim(claimed)) await sleep(50);
  try {
    if (existsSync(whole)) return whole;
    const aside = mkdtempSync(path.join(parent, `${name}-`));
    await make(aside);
    try {
      renameSync(aside, whole);
    } catch (error) {
      // Two that found the note of one that ended may both have taken its place.
      rmSync(aside, { recursive: true, force: true });
      if (!existsSync(whole)) throw error;
    }
    return whole;
  } finally {
    rmSync(claimed, { force: true });
  }
};
