import { constants, crc32, deflateSync } from 'node:zlib';

/** Pixels of a picture in their rows, four bytes each: red, green, blue, and how opaque it is, which is wholly. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

const chunk = (type: string, data: Uint8Array): Buffer => {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
};

const mostColours = 256;

/**
 * Each row of pixels as places in a palette, behind a byte that says that no filter is used on it; undefined where there
 * are more colours than a palette holds.
 */
const indexColours = ({ width, height, pixels }: Pixels): { rows: Uint8Array; palette: Uint8Array } | undefined => {
  const rows = new Uint8Array((width + 1) * height);
  const palette = new Uint8Array(3 * mostColours);
  const places = new Map<number, number>();
  // All four bytes of a pixel at once, in whatever order: they are compared alone.
  const colours = new Uint32Array(pixels.buffer, pixels.byteOffset, width * height);
  for (let y = 0; y < height; y++) {
    const end = (y + 1) * width;
    for (let at = y * width; at < end; ) {
      // Most pixels are as the one before.
      const begin = at;
      const colour = colours[at] ?? 0;
      do at++;
      while (at < end && colours[at] === colour);
      const place = places.get(colour) ?? places.size;
      if (place === mostColours) return undefined;
      if (place === places.size) {
        places.set(colour, place);
        palette.set(pixels.subarray(4 * begin, 4 * begin + 3), 3 * place);
      }
      // Before each row stands one byte more.
      rows.fill(place, begin + y + 1, at + y + 1);
    }
  }
  return { rows, palette: palette.subarray(0, 3 * places.size) };
};

/**
 * A picture without transparency as PNG (W3C, Portable Network Graphics, third edition) with a palette; undefined where it
 * has more colours than a palette holds, which drawings of flat shapes do not.
 *
 * It is compressed by its runs alone, which is enough for such a picture and, unlike all that looks for repetitions,
 * comes to the same bytes whatever processor compresses.
 */
export const encodeIndexed = (picture: Pixels): Uint8Array | undefined => {
  const indexed = indexColours(picture);
  if (indexed === undefined) return undefined;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(picture.width, 0);
  header.writeUInt32BE(picture.height, 4);
  // Eight bits for each place in a palette. Compression, filters and order are the only ones there are.
  header.set([8, 3], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', indexed.palette),
    chunk('IDAT', deflateSync(indexed.rows, { strategy: constants.Z_RLE })),
    chunk('IEND', new Uint8Array()),
  ]);
};
