import { type Browser, chromium } from 'playwright-core';
import { patience } from './patience.ts';
import { unpackChromium } from './unpacked-chromium.ts';

/** A headless Chromium that needs no system package, whose pages are waited for with patience. The caller closes it. */
export const launchBrowser = async (flags: readonly string[] = []): Promise<Browser> => {
  const browser = await chromium.launch({
    executablePath: await unpackChromium(),
    headless: true,
    // The sandbox of Chromium cannot start as root, which is what a container runs as.
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...flags],
  });
  browser.on('context', (context) => context.setDefaultTimeout(patience.timeout));
  return browser;
};
