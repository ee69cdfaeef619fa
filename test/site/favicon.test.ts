import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { markSvg, previewSvg } from '../../scripts/images/compose.ts';

const read = (file: string) => readFileSync(new URL(`../../src/${file}`, import.meta.url));

it('the icon of the site is the mark that the command for images draws', () => {
  expect(read('public/favicon.svg').toString()).toBe(`${markSvg()}\n`);
});

it('the picture of the site, as it is drawn and as it lies there, has the colours of the band of its first page', async () => {
  const tokens = read('layouts/tokens.css').toString();
  const colours = ['band', 'warm-fill', 'band-ink', 'band-muted'].map(
    (name) => RegExp(`--${name}: (?:light-dark\\()?(#\\w+)`).exec(tokens)?.[1] ?? name,
  );
  for (const colour of colours) expect(previewSvg()).toContain(`fill="${colour}"`);
  const { data } = await sharp(read('public/preview.png'))
    .extract({ left: 0, top: 0, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  expect(`#${data.toString('hex')}`).toBe(colours[0]);
});
