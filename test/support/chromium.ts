import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import bundled from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';
import { unpackChromium } from './unpacked-chromium.ts';

// Flags of the package that are left out. Some are for hosts that only allow one process, where a failing page ends
// everything; without web security, tests would show nothing about ours.
const unlike: ReadonlySet<string> = new Set([
  '--single-process',
  '--no-zygote',
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
]);

/** Starts headless Chromium from the npm registry. The system needs nothing of it. */
export const startChromium = async (): Promise<Browser> => {
  bundled.setGraphicsMode = false;
  const args = bundled.args.filter((arg) => !unlike.has(arg));
  return chromium.launch({ args, executablePath: await unpackChromium() });
};

/** Takes a screenshot if screenshots were asked for (`TEST_SCREENSHOTS=folder`). */
export const takeScreenshot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.TEST_SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
};
