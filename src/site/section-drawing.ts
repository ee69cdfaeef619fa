import type { SectionKind } from '../contract/sections.ts';
import { glyphs } from './section-glyphs.ts';

/** Converts an OKLCH colour to sRGB in hexadecimal, so that even old SVG viewers show it. */
export const oklch = (lightness: number, chroma: number, hue: number): string => {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const bytes = linear.map((value) => {
    const bounded = Math.min(1, Math.max(0, value));
    const encoded = bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055;
    return Math.round(encoded * 255)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${bytes.join('')}`;
};

/** Strokes in a colour. */
export const stroked = (strokes: string, colour: string, width = 1.6): string =>
  `<g fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round">${strokes}</g>`;

/** The colour of the tile with a hue, in degrees. */
export const tileOf = (hue: number): string => oklch(0.9, 0.042, hue);
/** The colour of the drawing on it. */
export const inkOf = (hue: number): string => oklch(0.43, 0.085, hue);

const compose = (kind: SectionKind): string => {
  const { hue, strokes } = glyphs[kind];
  const tile = `<rect width="40" height="40" rx="9" fill="${tileOf(hue)}"/>`;
  return `${tile}<g transform="translate(8 8)">${stroked(strokes, inkOf(hue))}</g>`;
};

const composed = new Map<SectionKind, string>();

/** The drawing for a section kind, its glyph on a rounded tile of 40 units, as SVG elements. */
export const sectionDrawing = (kind: SectionKind): string => {
  const known = composed.get(kind) ?? compose(kind);
  composed.set(kind, known);
  return known;
};
