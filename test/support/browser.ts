import { type Browser, chromium } from 'playwright-core';
import { unpackChromium } from './unpacked-chromium.ts';

/** A headless Chromium that needs no system package. The caller closes it. */
export const launchBrowser = async (flags: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: await unpackChromium(),
    headless: true,
    // The sandbox of Chromium cannot start as root, which is what a container runs as.
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...flags],
  });
