import { type Browser, chromium } from 'playwright-core';
import { patience } from './patience.ts';
import { unpackChromium } from './unpacked-chromium.ts';

/**
 * Starts a headless Chromium that needs no system packages, waits patiently for pages, and resolves only loopback hosts
 * unless the flags say otherwise. The caller closes it.
 */
export const launchBrowser = async (flags: readonly string[] = []): Promise<Browser> => {
  const browser = await chromium.launch({
    executablePath: await unpackChromium(),
    headless: true,
    // Chromium's sandbox cannot start as root, and containers run as root.
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      // A page lives for a second, so code that other threads optimize is not used for long enough to be worth it.
      '--js-flags=--no-opt --no-maglev',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ...flags,
    ],
  });
  browser.on('context', (context) => context.setDefaultTimeout(patience.timeout));
  return browser;
};
