/**
 * The compressions of a Packages index, by file ending; `plain` means none. They are requested in this order: the
 * smallest at the origin that is cheap enough to decompress comes first.
 */
export const compressions = ['zst', 'xz', 'lzma', 'bz2', 'gz', 'plain'] as const;

export type Compression = (typeof compressions)[number];
