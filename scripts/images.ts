// Draws the images that are not photographs: section icons and headers, favicon, touch icon, preview. Their results are
// committed; run this again after a change to a glyph or to the mark.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { sectionKinds } from '../src/contract/sections.ts';
import { headerSvg, iconSvg, markSvg, previewSvg, touchSvg } from './images/compose.ts';
import { runCommand } from './options.ts';

const folder = fileURLToPath(new URL('../src/public/', import.meta.url));

const write = async (path: string, bytes: string | Uint8Array) => {
  await mkdir(dirname(`${folder}${path}`), { recursive: true });
  await writeFile(`${folder}${path}`, bytes);
};

/** Renders an SVG at a size in pixels. Few colours are enough for flat drawings, and keep the file small. */
const render = async (page: Page, svg: string, width: number, height: number): Promise<Buffer> => {
  const { default: sharp } = await import('sharp');
  await page.setViewportSize({ width, height });
  await page.setContent(`<style>*{margin:0}svg{display:block;width:${width}px;height:${height}px}</style>${svg}`);
  const shot = await page.screenshot({ omitBackground: true });
  return sharp(shot).png({ palette: true, colours: 64, effort: 10, compressionLevel: 9 }).toBuffer();
};

/** An ICO file that holds one PNG of 32 pixels. */
const ico = (png: Buffer): Buffer => {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.writeUInt8(32, 6);
  head.writeUInt8(32, 7);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
};

const draw = async (): Promise<void> => {
  const { launchBrowser } = await import('../test/support/browser.ts');
  await using browser = await launchBrowser();
  const page = await browser.newPage();
  for (const kind of sectionKinds) {
    const icon = iconSvg(kind);
    await write(`icons/sections/${kind}.png`, await render(page, icon, 180, 180));
    await write(`icons/headers/${kind}.png`, await render(page, headerSvg(kind), 1200, 400));
  }
  await write('favicon.svg', `${markSvg()}\n`);
  await write('favicon.ico', ico(await render(page, markSvg(), 32, 32)));
  await write('apple-touch-icon.png', await render(page, touchSvg(), 180, 180));
  await write('preview.png', await render(page, previewSvg(), 1200, 630));
};

await runCommand(
  {
    name: 'images',
    summary: 'Draws the images of src/public that are not photographs, in the place of those there.',
    options: {},
  },
  draw,
);
