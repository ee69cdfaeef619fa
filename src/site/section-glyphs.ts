import type { SectionKind } from '../contract/sections.ts';

/** The picture of a section kind: strokes on a grid of 24, and the hue of its tile in degrees of OKLCH. */
export interface Glyph {
  readonly hue: number;
  readonly strokes: string;
}

// Related kinds share a hue, so that a list of packages stays calm.
const craft = 165;
const looks = 340;
const device = 215;
const code = 265;
const words = 85;
const play = 30;
const plain = 235;

/** The glyph of every section kind. */
export const glyphs: Readonly<Record<SectionKind, Glyph>> = {
  tweaks: {
    hue: craft,
    strokes:
      '<path d="M4 6.5h8.6M17.4 6.5H20M4 12h2.6M11.4 12H20M4 17.5h7.6M16.4 17.5H20"/><circle cx="15" cy="6.5" r="2.4"/><circle cx="9" cy="12" r="2.4"/><circle cx="14" cy="17.5" r="2.4"/>',
  },
  addons: {
    hue: craft,
    strokes:
      '<path d="M4.5 9.5h5V8.2a2.3 2.3 0 1 1 4.4 0v1.3h5.6v4.3h-1.2a2.3 2.3 0 1 0 0 4.4h1.2v1.3h-15z"/><path d="M8.2 14.5h3.6"/>',
  },
  apps: {
    hue: device,
    strokes:
      '<rect x="4" y="4" width="6.8" height="6.8" rx="1.9"/><rect x="13.2" y="4" width="6.8" height="6.8" rx="1.9"/><rect x="4" y="13.2" width="6.8" height="6.8" rx="1.9"/><circle cx="16.6" cy="16.6" r="3.4"/>',
  },
  themes: {
    hue: looks,
    strokes:
      '<path d="M12 3.6c3.7 4.1 6.2 7.2 6.2 10.5a6.2 6.2 0 0 1-12.4 0c0-3.3 2.5-6.4 6.2-10.5z"/><path d="M9 14.4a3 3 0 0 0 2.6 2.9"/>',
  },
  wallpapers: {
    hue: looks,
    strokes:
      '<rect x="3.8" y="4.8" width="16.4" height="14.4" rx="2.6"/><circle cx="8.6" cy="9.4" r="1.5"/><path d="m4.4 17 4.4-3.9 3 2.5 3.6-4.1 4.4 4.6"/>',
  },
  widgets: { hue: looks, strokes: '<rect x="4" y="4" width="16" height="16" rx="5"/><path d="M12 8v4.3l2.8 1.7"/>' },
  'control-center': {
    hue: device,
    strokes:
      '<rect x="3.8" y="4.4" width="16.4" height="6.6" rx="3.3"/><rect x="3.8" y="13" width="16.4" height="6.6" rx="3.3"/><circle cx="16.6" cy="7.7" r="1.2"/><circle cx="7.4" cy="16.3" r="1.2"/>',
  },
  utilities: {
    hue: craft,
    strokes:
      '<path d="M19.6 7.4 16.9 10 14 7.1l2.6-2.7a5 5 0 0 0-6.2 6.5l-5.6 5.6a1.9 1.9 0 0 0 2.7 2.7l5.6-5.6a5 5 0 0 0 6.5-6.2z"/>',
  },
  system: {
    hue: device,
    strokes:
      '<rect x="6.6" y="6.6" width="10.8" height="10.8" rx="2.2"/><rect x="10.2" y="10.2" width="3.6" height="3.6" rx=".6"/><path d="M9.5 3.6v3M14.5 3.6v3M9.5 17.4v3M14.5 17.4v3M3.6 9.5h3M3.6 14.5h3M17.4 9.5h3M17.4 14.5h3"/>',
  },
  security: {
    hue: craft,
    strokes:
      '<path d="m12 3.4 7 2.6v5.6c0 4.4-2.9 7.5-7 9.1-4.1-1.6-7-4.7-7-9.1V6z"/><path d="m8.9 11.9 2.3 2.3 4-4.3"/>',
  },
  networking: {
    hue: code,
    strokes:
      '<path d="M3.6 9.8a12.4 12.4 0 0 1 16.8 0M6.6 13.2a8 8 0 0 1 10.8 0M9.6 16.5a3.7 3.7 0 0 1 4.8 0"/><path d="M12 19.6v.01"/>',
  },
  development: { hue: code, strokes: '<path d="m8 7.4-4.4 4.6L8 16.6M16 7.4l4.4 4.6-4.4 4.6M13.6 5.4l-3.2 13.2"/>' },
  libraries: {
    hue: code,
    strokes:
      '<path d="M4.2 5h3.9v14.2H4.2zM8.1 5H12v14.2H8.1z"/><path d="m14 6.5 3.6-1 3.4 12.7-3.6 1z"/><path d="M4.2 8.2h3.9M8.1 15.8H12"/>',
  },
  terminal: {
    hue: plain,
    strokes: '<rect x="3.4" y="4.8" width="17.2" height="14.4" rx="2.8"/><path d="m7.4 9.3 3 2.7-3 2.7M12.8 15h4"/>',
  },
  text: { hue: words, strokes: '<path d="M5 8.4V5.2h14v3.2M12 5.2v13.6M9 18.8h6"/>' },
  multimedia: { hue: play, strokes: '<circle cx="12" cy="12" r="8.4"/><path d="M10.2 8.7v6.6l5.2-3.3z"/>' },
  games: {
    hue: play,
    strokes:
      '<rect x="2.8" y="7" width="18.4" height="10.4" rx="5.2"/><path d="M8 10.2v4M6 12.2h4M15 13.6v.01M17.6 10.9v.01"/>',
  },
  science: {
    hue: words,
    strokes:
      '<path d="M9.8 3.8v6l-5 8a1.9 1.9 0 0 0 1.6 2.9h11.2a1.9 1.9 0 0 0 1.6-2.9l-5-8v-6"/><path d="M8.2 3.8h7.6M7.4 15.2h9.2"/>',
  },
  archiving: {
    hue: plain,
    strokes:
      '<rect x="3.6" y="4.6" width="16.8" height="4.6" rx="1.3"/><path d="M5.2 9.2v8.4a1.9 1.9 0 0 0 1.9 1.9h9.8a1.9 1.9 0 0 0 1.9-1.9V9.2M10 13h4"/>',
  },
  administration: {
    hue: plain,
    strokes:
      '<rect x="5" y="5.2" width="14" height="15.2" rx="2.4"/><path d="M9 5.2V3.6h6v1.6M8.6 10.4l1.1 1.1 1.9-2.2M14 10.6h1.6M8.6 15.4l1.1 1.1 1.9-2.2M14 15.6h1.6"/>',
  },
  documentation: {
    hue: words,
    strokes:
      '<path d="M12 7c-2.2-1.5-5-2-8.2-1.7v12.8c3.2-.3 6 .2 8.2 1.7 2.2-1.5 5-2 8.2-1.7V5.3C17 5 14.2 5.5 12 7zM12 7v12.8"/>',
  },
  repositories: {
    hue: device,
    strokes:
      '<ellipse cx="12" cy="6.4" rx="7.6" ry="2.8"/><path d="M4.4 6.4v11.2c0 1.6 3.4 2.8 7.6 2.8s7.6-1.2 7.6-2.8V6.4M4.4 12c0 1.6 3.4 2.8 7.6 2.8s7.6-1.2 7.6-2.8"/>',
  },
  other: {
    hue: plain,
    strokes:
      '<path d="m12 3.4 7.6 4.3v8.6L12 20.6l-7.6-4.3V7.7z"/><path d="M4.6 7.9 12 12l7.4-4.1M12 12v8.4M8.2 5.6l7.5 4.3"/>',
  },
};
