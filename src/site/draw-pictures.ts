import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describeKept, isAsWritten, type KeptFile, writeKept } from './kept-file.ts';
import { encodeIndexed } from './png.ts';
import type { SharePicture } from './share-choice.ts';

interface DrawnPicture extends KeptFile {
  /** Depends on what is drawn, and on what draws it. */
  readonly key: string;
}

const fileOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier));

// Shipped with the project, so that the pictures are the same everywhere.
const fonts = [
  '@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf',
  '@expo-google-fonts/inter/700Bold/Inter_700Bold.ttf',
];

const wasm = '@resvg/resvg-wasm/index_bg.wasm';

const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string }).version;

/** The versions of the renderer and the font, because another one may draw differently. */
const describeRenderer = (): string =>
  `${versionIn(path.dirname(fileOf(wasm)))} ${versionIn(path.dirname(fileOf('@expo-google-fonts/inter')))} indexed`;

type Draw = (svg: string) => Uint8Array;

/** Loads the renderer: a WebAssembly module of 2.5 MB and the fonts, in some tens of milliseconds. */
const loadRenderer = async (): Promise<Draw> => {
  const { initWasm, Resvg } = await import('@resvg/resvg-wasm');
  await initWasm(readFileSync(fileOf(wasm)));
  const fontBuffers = fonts.map((font) => readFileSync(fileOf(font)));
  return (svg) => {
    const renderer = new Resvg(svg, { font: { fontBuffers, loadSystemFonts: false, defaultFontFamily: 'Inter' } });
    const image = renderer.render();
    try {
      // The renderer's own PNG takes twice as long as everything else here, and is three quarters larger.
      return encodeIndexed(image) ?? image.asPng();
    } finally {
      image.free();
      renderer.free();
    }
  };
};

// It can be initialised only once in a process.
let renderer: Promise<Draw> | undefined;

const readKnown = (mark: string): Readonly<Record<string, DrawnPicture>> => {
  try {
    return existsSync(mark) ? JSON.parse(readFileSync(mark, 'utf8')) : {};
  } catch {
    // It was cut off while it was written, so nothing is known.
    return {};
  }
};

const removeOthers = (folder: string, kept: Readonly<Record<string, unknown>>): void => {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isDirectory() && !Object.hasOwn(kept, path.relative(folder, file))) rmSync(file);
  }
};

/** After how many pictures progress is reported. */
const toldAtOnce = 100;

// Drawing all pictures of a large index takes minutes. If the build does not finish, what was drawn is kept.
const notedEveryMs = 10_000;

interface Drawing {
  readonly verify?: boolean;
  readonly onDrawn?: (done: number, total: number) => void;
}

/**
 * Draws the share pictures that have changed into a folder, with `verify` also those that are not as they were written,
 * and removes obsolete ones. Returns how many were drawn.
 *
 * @throws Error if a file cannot be written
 */
export const drawPictures = async (
  pictures: Iterable<SharePicture>,
  folder: string,
  { verify = false, onDrawn = () => {} }: Drawing = {},
): Promise<number> => {
  const mark = `${folder}.json`;
  const drawnBy = describeRenderer();
  const known = readKnown(mark);
  mkdirSync(folder, { recursive: true });
  const kept: Record<string, DrawnPicture> = Object.create(null);
  const stale: { readonly file: string; readonly compose: SharePicture['compose']; readonly key: string }[] = [];
  for (const { preview, compose } of pictures) {
    const file = preview.src.slice(1);
    const key = hash('sha256', `${drawnBy}\n${compose() ?? ''}`);
    const before = Object.hasOwn(known, file) ? known[file] : undefined;
    if (before?.key === key && isAsWritten(path.join(folder, file), before, verify)) kept[file] = before;
    else stale.push({ file, compose, key });
  }
  if (stale.length > 0) {
    // What is about to change is not recorded until it is complete.
    writeFileSync(mark, JSON.stringify(kept));
    renderer ??= loadRenderer();
    const draw = await renderer;
    let noted = performance.now();
    for (const [done, { file, compose, key }] of stale.entries()) {
      const png = draw(compose() ?? '');
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeKept(path.join(folder, file), png);
      kept[file] = { key, ...describeKept(png) };
      if ((done + 1) % toldAtOnce === 0 || done + 1 === stale.length) onDrawn(done + 1, stale.length);
      if (performance.now() > noted + notedEveryMs) {
        writeFileSync(mark, JSON.stringify(kept));
        noted = performance.now();
      }
      await setImmediate();
    }
  }
  removeOthers(folder, kept);
  writeFileSync(mark, JSON.stringify(kept));
  return stale.length;
};
