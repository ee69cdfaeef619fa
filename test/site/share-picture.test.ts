import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hueOf } from '../../src/results/hue.ts';
import { notchesOf } from '../../src/results/notches.ts';
import { drawPictures } from '../../src/site/draw-pictures.ts';
import { encodeIndexed, type Pixels } from '../../src/site/png.ts';
import type { SharePicture } from '../../src/site/share-choice.ts';
import {
  composePicture,
  composeRepositoryPicture,
  notchColours,
  type PictureFacts,
  pictureHues,
  pictureSize,
} from '../../src/site/share-picture.ts';

const facts: PictureFacts = {
  id: 'com.example.alert',
  name: 'Alert',
  author: 'Ada',
  version: '1.2-3',
  repository: { slug: 'alpha', name: 'Alpha' },
  builds: notchesOf(['iphoneos-arm', 'iphoneos-arm64']),
  service: 'Debdex',
};
const textsOf = (svg: string | undefined) =>
  Array.from(svg?.matchAll(/<text[^>]*>([^<]*)</g) ?? [], ([, text]) => text);

describe('a share picture', () => {
  it('shows what a package is called, by whom, its version, where it is and for which builds', () => {
    expect(textsOf(composePicture(facts))).toEqual([
      'Debdex',
      'Al',
      'Alert',
      'by Ada',
      '1.2-3',
      'Alpha',
      'Rootful',
      'Rootless',
    ]);
    expect(textsOf(composePicture({ ...facts, author: '' }))).toContain('Alpha');
    expect(textsOf(composePicture({ ...facts, name: 'Жук-Ωmega Ünï', author: 'ada™' }))).toContain('Жук-Ωmega Ünï');
  });

  it('C11: holds nothing of what strangers wrote but text that fits and can be drawn', () => {
    const evil = '</text><script>alert(1)</script>"&\u0000\u202e';
    const svg = composePicture({
      ...facts,
      name: evil,
      author: evil,
      version: evil,
      repository: { slug: 'a', name: evil },
    });
    for (const never of ['<script', '"&', '\u0000', '\u202e']) expect(svg).not.toContain(never);
    expect(svg).toContain('&lt;/text&gt;');
    const long = composePicture({
      ...facts,
      name: 'W'.repeat(1e6),
      version: '9'.repeat(1e6),
      author: 'x '.repeat(1e6),
    });
    expect(long?.length).toBeLessThan(4000);
    for (const text of textsOf(long).slice(2, 5)) expect(text).toMatch(/^.{10,60}…$/);
    for (const name of ['日本語', 'متجر', '\u0000\u200b', '', '๑', '１２', 'ＡＢＣ', '\u049f', '\u0370']) {
      expect(composePicture({ ...facts, name }), name).toBeUndefined();
    }
    // What cannot be drawn of the rest is left out.
    const texts = textsOf(
      composePicture({ ...facts, author: '作者', version: '版', repository: { slug: 'alpha', name: '源' } }),
    );
    expect(texts).toEqual(['Debdex', 'Al', 'Alert', 'alpha', '', 'alpha', 'Rootful', 'Rootless']);
    expect(textsOf(composePicture({ ...facts, name: 'Snow\u{1f3c2}Board ☃' }))).toContain('Snow Board');
  });

  it('has the hues of pages', () => {
    const css = readFileSync(path.join(import.meta.dirname, '../../src/layouts/hues.css'), 'utf8');
    const hues = Array.from(css.matchAll(/--pale: (#\w+);\s*--deep: (#\w+)/g), ([, pale, deep]) => [pale, deep]);
    expect(pictureHues).toEqual(hues.slice(0, pictureHues.length));
    expect(pictureHues).toHaveLength(7);
    const tokens = readFileSync(path.join(import.meta.dirname, '../../src/layouts/tokens.css'), 'utf8');
    for (const [kind, colour] of Object.entries(notchColours)) {
      expect(new RegExp(`--${kind}: light-dark\\((#\\w+),`).exec(tokens)?.[1], kind).toBe(colour);
    }
  });

  it('has a notch for each kind of build, at a place and of a colour of its own, in the edge and beside its word', () => {
    const architectures = ['iphoneos-arm', 'iphoneos-arm64', 'iphoneos-arm64e'];
    const notches = (builds: readonly string[]) => {
      const svg = composePicture({ ...facts, builds: notchesOf(builds) }) ?? '';
      return Object.entries(notchColours).flatMap(([kind, colour]) =>
        Array.from(svg.matchAll(new RegExp(`x="(\\d+)" y="(\\d+)" [^>]*fill="${colour}"`, 'g')), ([, x, y]) => [
          kind,
          x,
          y,
        ]),
      );
    };
    expect(notches(architectures.slice(1))).toEqual([
      ['rootless', '560', '158'],
      ['rootless', '312', '256'],
      ['roothide', '560', '216'],
      ['roothide', expect.any(String), '256'],
    ]);
    const [left, right] = notches(architectures)
      .filter(([, , y]) => y === '256')
      .map(([, x]) => Number(x))
      .slice(-2);
    expect(right).toBeGreaterThan((left ?? 0) + 60);
    expect(right).toBeLessThan(490);
    expect(notches(['amd64', 'all'])).toEqual([]);
  });

  it('of a repository shows its letters, name, host, how many packages it has and its ranking', () => {
    const repository = { slug: 'alpha', name: 'Alpha Repo', host: 'alpha.example', packages: '15 packages' };
    const shown = { ...repository, ranking: 'Trusted', service: 'Debdex' };
    const svg = composeRepositoryPicture(shown);
    expect(textsOf(svg)).toEqual(['Debdex', 'AR', 'Alpha Repo', 'alpha.example', '15 packages', 'Trusted']);
    const [pale] = pictureHues[hueOf('alpha')] ?? [];
    expect(svg).toContain(`fill="${pale}"`);
    expect(composeRepositoryPicture({ ...shown, name: '源' })).toBeUndefined();
  });
});

describe('a PNG', () => {
  /** The pixels of so many colours, in turns of three, row after row. */
  const makePixels = (colours: number, width = 70, height = 13): Pixels => {
    const pixels = new Uint8Array(4 * width * height);
    for (let at = 0; at < width * height; at++) {
      const colour = Math.floor(at / 3) % colours;
      pixels.set([colour & 255, colour >> 8, 255 - (colour & 255), 255], 4 * at);
    }
    return { width, height, pixels };
  };

  it.each([1, 2, 255, 256])('of %s colours has a palette, and the pixels that it was made of', async (colours) => {
    const { width, height, pixels } = makePixels(colours);
    const png = encodeIndexed({ width, height, pixels });
    const { data, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    expect(info).toMatchObject({ width, height, channels: 4 });
    expect(data.equals(pixels)).toBe(true);
    // The colour type (W3C, section 11.2.1).
    expect(png?.[25]).toBe(3);
  });

  it('is none of more colours than a palette holds', () => {
    for (const colours of [257, 303]) expect(encodeIndexed(makePixels(colours)), `${colours}`).toBeUndefined();
  });
});

describe('drawing', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'debdex-pictures-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const drawn = path.join(folder, 'drawn');
  const pictureOf = (id: string, version = '1'): SharePicture => ({
    preview: { src: `/package/${id}/preview.png`, ...pictureSize, text: id },
    compose: () => composePicture({ ...facts, id, version }) ?? '',
  });
  const read = () =>
    readdirSync(drawn, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [path.relative(drawn, file), readFileSync(file, 'base64')]);

  it('C13: tells how far it is, and does not draw again what was drawn a while before it was ended', async () => {
    // Nothing on them: it is not their looks that counts here, and each other one takes ten milliseconds.
    const blank = (id: string): SharePicture => ({
      ...pictureOf(id),
      compose: () => `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8" id="${id}"/>`,
    });
    const many = Array.from({ length: 205 }, (_, index) => blank(`p${index}`));
    const told: (readonly [number, number])[] = [];
    const into = path.join(folder, 'many');
    const fails = (index: number) => {
      const { compose } = many[index] as SharePicture;
      let times = 0;
      // It is composed once to know it by, and once to be drawn.
      return { ...pictureOf(`p${index}`), compose: () => (++times > 1 ? '' : compose()) };
    };
    const onDrawn = (done: number, total: number) => told.push([done, total]);
    let now = performance.now();
    let passes = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += passes));
    onTestFinished(() => clock.mockRestore());
    await expect(drawPictures([...many.slice(0, 204), fails(204)], into, { onDrawn })).rejects.toThrow();
    expect(told).toEqual([
      [100, 205],
      [200, 205],
    ]);
    // No time had passed.
    expect(await drawPictures(many.slice(0, 3), into)).toBe(3);
    passes = 6000;
    await expect(drawPictures([...many.slice(0, 9), fails(9)], into)).rejects.toThrow();
    passes = 0;
    expect(await drawPictures(many.slice(0, 10), into, { onDrawn })).toBeLessThan(4);
    const [done, total] = told.at(-1) ?? [];
    expect(done).toBe(total);
  });

  it('has the pixels that the renderer has', async () => {
    const svg = (pictureOf('a').compose() ?? '').replaceAll(/<text.*?<\/text>/g, '');
    const alone = path.join(folder, 'alone');
    await drawPictures([{ ...pictureOf('a'), compose: () => svg }], alone);
    // It can be loaded once in a process, which drawing has done.
    const { Resvg } = await import('@resvg/resvg-wasm');
    const renderers = new Resvg(svg).render().asPng();
    const ours = readFileSync(path.join(alone, 'package/a/preview.png'));
    const pixelsOf = (png: Uint8Array) => sharp(png).ensureAlpha().raw().toBuffer();
    expect((await pixelsOf(ours)).equals(await pixelsOf(renderers))).toBe(true);
    expect(ours.length).toBeLessThan(renderers.length);
  });

  it('C13: makes what changed, what is damaged and what a kill left behind, and takes away what is none any more', async () => {
    expect(await drawPictures([pictureOf('a'), pictureOf('b')], drawn)).toBe(2);
    const whole = read();
    expect(whole.map(([name]) => name)).toEqual(['package/a/preview.png', 'package/b/preview.png']);
    const [, first = ''] = whole[0] ?? [];
    const png = Buffer.from(first, 'base64');
    expect([png.toString('latin1', 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(['PNG', 600, 315]);
    expect(await drawPictures([pictureOf('a'), pictureOf('b')], drawn)).toBe(0);

    truncateSync(path.join(drawn, 'package/a/preview.png'), 9);
    expect(await drawPictures([pictureOf('a'), pictureOf('b')], drawn)).toBe(1);
    png[40] = (png[40] ?? 0) ^ 1;
    writeFileSync(path.join(drawn, 'package/a/preview.png'), png);
    expect(await drawPictures([pictureOf('a'), pictureOf('b')], drawn)).toBe(0);
    expect(await drawPictures([pictureOf('a'), pictureOf('b')], drawn, { verify: true })).toBe(1);
    expect(read()).toEqual(whole);

    truncateSync(`${drawn}.json`, 20);
    expect(await drawPictures([pictureOf('a'), pictureOf('b')], drawn)).toBe(2);
    expect(read()).toEqual(whole);

    expect(await drawPictures([pictureOf('a', '2'), pictureOf('c')], drawn)).toBe(2);
    expect(read().map(([name]) => name)).toEqual(['package/a/preview.png', 'package/c/preview.png']);
    expect(read()[0]).not.toEqual(whole[0]);
    expect(await drawPictures([], drawn)).toBe(0);
    expect(read()).toEqual([]);
  });
});
