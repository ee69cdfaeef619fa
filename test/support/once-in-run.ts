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

/** The process that claimed this file; 0 if none did, or it has ended. */
const ownerOf = (file: string): number => {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
};

/** Claims a file for this process, if nobody has. A claim of a process that has ended is removed. */
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
 * A folder with this name below another, with content that is the same for all tests of a run. The first process that
 * asks makes it, and others wait, because making it takes seconds of processor time. It is made elsewhere and appears
 * whole, so nobody finds an incomplete one.
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
      // Two processes that found the claim of one that had ended may both have replaced it.
      rmSync(aside, { recursive: true, force: true });
      if (!existsSync(whole)) throw error;
    }
    return whole;
  } finally {
    rmSync(claimed, { force: true });
  }
};
