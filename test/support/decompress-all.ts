import { type Compression, type DecompressionLimits, decompress } from '../../src/apt/decompress.ts';

/** Decompresses complete bytes into one array. Throws as `decompress` does. */
export const decompressAll = async (
  bytes: Uint8Array,
  compression: Compression,
  limits: DecompressionLimits,
): Promise<Uint8Array> => Buffer.concat(await Array.fromAsync(decompress([bytes], compression, limits)));
