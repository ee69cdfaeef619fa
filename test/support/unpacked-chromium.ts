import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import packed from '@sparticuz/chromium';

/**
 * The program of the Chromium of the npm package, unpacked once for all tests of a run. The package unpacks it to where
 * others find it at once, and start a half of it; so it is unpacked aside, and appears whole.
 */
export const unpackChromium = async (): Promise<string> => {
  const folder = tmpdir();
  const whole = path.join(folder, 'chromium-unpacked');
  if (!existsSync(whole)) {
    const aside = mkdtempSync(path.join(folder, 'chromium-'));
    const before = process.env.TMPDIR;
    process.env.TMPDIR = aside;
    try {
      await packed.executablePath();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
    try {
      renameSync(aside, whole);
    } catch (error) {
      // Another process of the tests was as early.
      rmSync(aside, { recursive: true, force: true });
      if (!existsSync(whole)) throw error;
    }
  }
  return path.join(whole, 'chromium');
};
