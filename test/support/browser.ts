import packed from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** A headless Chromium that needs no system package. The caller closes it. */
export const launchBrowser = async (flags: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: await packed.executablePath(),
    headless: true,
    // The sandbox of Chromium cannot start as root, which is what a container runs as.
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...flags],
  });
