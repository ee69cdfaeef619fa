import type { SectionKind } from '../../src/contract/sections.ts';
import { inkOf, oklch, sectionDrawing, stroked, tileOf } from '../../src/site/section-drawing.ts';
import { glyphs } from '../../src/site/section-glyphs.ts';
import { mark } from '../../src/site/share-picture.ts';

/** The icon of a section kind: its glyph on a rounded tile of 40 units. */
export const iconSvg = (kind: SectionKind): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><title>${kind}</title>${sectionDrawing(kind)}</svg>`;

/** The header image of a section kind: its glyph in front of rows of index cards in the same hue. */
export const headerSvg = (kind: SectionKind): string => {
  const { hue, strokes } = glyphs[kind];
  const cards: string[] = [];
  for (let row = 0; row < 5; row += 1) {
    for (let column = -1; column < 9; column += 1) {
      const x = column * 150 + (row % 2) * 75;
      const y = row * 92 - 30;
      cards.push(`<path d="M${x} ${y + 14}h70v-10a4 4 0 0 1 4-4h46a4 4 0 0 1 4 4v64H${x}z"/>`);
    }
  }
  const ground = tileOf(hue);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 400"><rect width="1200" height="400" fill="${ground}"/><g fill="${oklch(0.875, 0.05, hue)}">${cards.join('')}</g><circle cx="600" cy="200" r="118" fill="${ground}"/><g transform="translate(504 104) scale(8)">${stroked(strokes, inkOf(hue), 1.3)}</g></svg>`;
};

const brand = oklch(0.44, 0.085, 172);

const cardShape = (fill: string) => `<path fill="${fill}" fill-rule="evenodd" d="${mark}"/>`;

/** The mark on its tile of 32 units. */
export const markSvg = (): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Package index</title><rect width="32" height="32" rx="7.5" fill="${brand}"/>${cardShape('#fff')}</svg>`;

/** The mark for home screens, which round its corners themselves. */
export const touchSvg = (): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Debdex</title><rect width="32" height="32" fill="${brand}"/>${cardShape('#fff')}</svg>`;

/** The preview picture for shared addresses, with the band of the first page: 1200 by 630 units. */
export const previewSvg = (): string => {
  const kinds = ['tweaks', 'themes', 'apps', 'utilities', 'multimedia', 'development', 'terminal'] as const;
  const icons = kinds
    .map((kind, index) => `<g transform="translate(${100 + index * 112} 470) scale(2.1)">${iconSvg(kind)}</g>`)
    .map((svg) => svg.replace('viewBox="0 0 40 40"', 'width="40" height="40" viewBox="0 0 40 40"'))
    .join('');
  const font = 'font-family="system-ui, Liberation Sans, DejaVu Sans, sans-serif"';
  // The colours of the band, from src/layouts/tokens.css.
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630"><rect width="1200" height="630" fill="#0c3d33"/><g transform="translate(64 62) scale(6)">${cardShape('#f0873a')}</g><text x="250" y="198" ${font} font-size="104" font-weight="700" letter-spacing="-3" fill="#fbf7ee">Debdex</text><text x="100" y="330" ${font} font-size="46" fill="#b9d3c8">Every tweak, theme and tool,</text><text x="100" y="392" ${font} font-size="46" fill="#b9d3c8">from every repository, in one index.</text>${icons}</svg>`;
};
