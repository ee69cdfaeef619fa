import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Compression } from '../../src/apt/decompress.ts';

/** What each of `small` decompresses to. */
export const smallText = 'Package: a\nVersion: 1\n';

const base64 = (text: string): Buffer => Buffer.from(text, 'base64');
const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };

/** The same short text in every compression, as the usual command-line tools write it. */
export const small: Record<Exclude<Compression, 'plain'>, Buffer> = {
  gz: gzipSync(smallText),
  zst: zstdCompressSync(smallText, checked),
  xz: base64(
    '/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAVUGFja2FnZTogYQpWZXJzaW9uOiAxCgAAAHiqwInbgPEcAAEuFlYJVd8ftvN9AQAAAAAEWVo=',
  ),
  lzma: base64('XQAAgAD//////////wAoGEhm29owhf4W3q7l8EtGMIljSn3K6NSNx8r/+YywAA=='),
  bz2: base64('QlpoOTFBWSZTWaUa3TYAAAPbgAAQQAAgEEEAKqmYACAAIiZNMmm0IUwAE0RlJRDFtw8+TBdznxdyRThQkKUa3TY='),
};

/** The numbers 1 to 400, in a bzip2 stream that needs long codes. */
export const numbers = base64(
  'QlpoMTFBWSZTWYYDi9cAAPEYAEAAf+BQA3gHPOuipUDUm1P1RvyoQDTTQVTz0mk/9UqEUf6pPUftKhBP9VJqm/0qm81uV2/fM+bAPHAFiAdCgUDoQCxwB42AfNAB5pwB82AeOALEA6FAoHQgFjgDxsA+aAC2iAfNgHjgCxAOhQKB0IBY4A8bAPmgA60KBQOhALHAHjYB80AEyZJJJFj2qqvyiqu7u7uyQAAAAAAAAB5nOeKrbbltttWPbJJPvvvvvtkirphyrphyrphyrphyrphyrphyrphyrphyrphyrre9zu7uqcIAAKrFVbbbeIbmpnmZuamZtlXRxlXRxlXRxlXRxlXRxlXRxmv2pOTev2sqq5mZmY8bAPmgMu7u/SfplXRxlXRxlXQXdBd0F3QXdBd0F3QXdb3vdbu7s9JOSSST+kySSe33ve9JP1AAAAAJJJlVWZWZmOhALHAu8u7segAAAAAN73u7v27s7IKB0ILu8u7FySSSSSSSSSSSSSSSSSZVVmZl5iAdCgUXfvb70k+AAAAAA3ve7mZnscAWIB1d3d5YqSSSSSAAAAK7v3327u7/SckkknpIkkk+nve979+/aAAAAAUP8XckU4UJCGA4vXA=',
);

/** An empty file, as bzip2 writes it. */
export const emptyBzip2 = base64('QlpoORdyRThQkAAAAAA=');

/** 260,000 bytes in three blocks: "Package: p<n % 7>" and an empty line, for n from 0 to 19,999. */
export const threeBlocks = base64(
  'QlpoMTFBWSZTWfiioksASxrbgAAQQAB/EEAAKohAADAAuYKGmmAATVVGE00M9UClVDDQCbCRD9SIZUiGdIhpSIapEMJENUgVbUgDCVUOiVUNtZKqH0lVDCVUOiVUMJVQ8EqoYSqhhKqH8xQVkmU1lw9txTAAzf24AAEEAAfxBAACqIQAAwALmRQ00wACaqgCaGaBSqAamhhpikQ1pEM0iGyRDdIhwkQ4xSIYpAq+UhQxJVQ7JVQ0JVQ/EqoYJVQ7JVQwSqhkUCrykCrlIFXpigrJMprOm12g4AN2itwAAIIAA/iCAAFUQgABgAXAUNNMABQ00wABSqTTCDJ+qckia0RPNETYkTckTgkTkkTbikCPSQIykCO0gRqkCPqQIxIEdpAjEgRokCMSBGVETfShUX8XckU4UJDQDIWV',
);

/** 45,000,000 zeros in one bzip2 stream. */
export const bzip2Zeros = base64('QlpoOTFBWSZTWckBtsgBWKtAIMAAEAAACCAAMMwFKaZSSFJsVJIUni7kinChIZIDbZA=');

/** 4,000,000 zeros as .lzma. */
export const lzmaZeros = base64(
  'XQAAgAD//////////wAAb/3//6O3/0c+SBVyOWFRuJIo5qOGB/nu5B6C0y/FOjwBS7F+yYqKTS+jDdl/puOMIxFT4FkYxXWK4nf4tpR/DGrA3nRJZOLpXFOyBNj3RAyrXw1tRunlw3aIt5ZXrLZN4Wkdb/tLiBBsQsuIP1wAj9BOryYolHEfPY8k4XCepyNf7CjLhdGVmIp+KpHyJ3X3GcAGmE2Y/div1ZAPxCVT+PWRNjEFpbDub8FwTUcM0ZERqq1gHbrOsScYXFmG6WZSWL7pdqxZ5OVbBQj5x9qt/PtSK3TNHlsgQvndUz34KWQJO4DLKmzftTvwxL0uX6oPPktmQpATDv8Qk/hxeFn4C83/lShGD6n8fN77mjAuVsCPhfODgcBlxCVT+PWRNjEFpbDub8FwTUcM0ZERqq1gHbrOsScYXFmG6WZSWL7pdqxZ5OVbBQj5x9qt/PtSK3TNHlsgQvndUz34KWQJO4DLKmzftTvwxL0uX6oPPktmQpATDv8Qk/hxeFn4C83/lShGD6n8fN77mjAuVsCPhfODgcBlxCVT+PWRNjEFpbDub8FwTUcM0ZERqq1gHbrOsScYXFmG6WZSWL7pdqxZ5OVbBQj5x9qt/PtSK3TNHlsgQvndUz34KWQJO4DLKmzftTvwxL0uX6oPPktmQpATDv8Qk/hxeFn4C83/lShGD6n8fN77mjAuVsCPhfODgcBlxCVT+PWRNjEFpbDub8FwTUcM0ZERqq1gHbrOsScYXFmG6WZSWL7pdqxZ5OVbBQj5x9qt/PtSK3TNHlsgQvndUz34KWQJO4DLKmzftTvwxL0uX6oPPktmQpATDv8Qk/hxeFn4C83/gz4OzI7//9x8AAA=',
);
