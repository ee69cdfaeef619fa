import { type Browser, chromium } from 'playwright-core';
import { patience } from './patience.ts';
import { unpackChromium } from './unpacked-chromium.ts';

/**
 * A headless Chromium that needs no system package, whose pages are waited for with patience, and which finds no host but
 * loopback unless it is told where. The caller closes it.
 */
export const launchBrowser = async (flags: readonly string[] = []): Promise<Browser> => {
  const browser = await chromium.launch({
    executablePath: await unpackChromium(),
    headless: true,
    // The sandbox of Chromium cannot start as root, which is what a container runs as.
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      // A page lives for a second: what would be optimized for it, by threads of its own, is over before it pays.
      '--js-flags=--no-opt --no-maglev',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ...flags,
    ],
  });
  browser.on('context', (context) => context.setDefaultTimeout(patience.timeout));
  return browser;
};
