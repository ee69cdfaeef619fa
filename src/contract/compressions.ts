/**
 * The compressions of a Packages index, by the ending of its name; `plain` is none. In the order in which they are asked
 * for: what is smallest at the origin and cheap enough to open here comes first.
 */
export const compressions = ['zst', 'xz', 'lzma', 'bz2', 'gz', 'plain'] as const;

export type Compression = (typeof compressions)[number];
