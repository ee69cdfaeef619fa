import { tmpdir } from 'node:os';
import path from 'node:path';
import packed from '@sparticuz/chromium';
import { makeOnce } from './once-in-run.ts';

/**
 * The program of the Chromium of the npm package, unpacked once for all tests of a run. The package unpacks it to where
 * others find it at once, and start a half of it; so it is unpacked elsewhere.
 */
export const unpackChromium = async (): Promise<string> => {
  const whole = await makeOnce(tmpdir(), 'chromium-unpacked', async (folder) => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = folder;
    try {
      await packed.executablePath();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });
  return path.join(whole, 'chromium');
};
