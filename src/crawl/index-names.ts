import type { Compression } from '../apt/decompress.ts';
import type { ManifestEntry } from '../contract/manifest.ts';

/** Where below its address a repository keeps its index. */
export type IndexPlace = Pick<ManifestEntry, 'suite' | 'component' | 'binary'>;

/** Best first: what is smallest at the origin and cheap enough to open here. */
export const compressions: readonly Compression[] = ['zst', 'xz', 'lzma', 'bz2', 'gz', 'plain'];

/** The name of the index in a compression. */
export const nameOf = (compression: Compression): string =>
  compression === 'plain' ? 'Packages' : `Packages.${compression}`;

/** The folder of the index relative to that of Release: "" or "main/binary-arm64/". */
export const indexFolder = (entry: IndexPlace): string =>
  entry.suite === './' ? '' : `${entry.component}/binary-${entry.binary}/`;

/** The paths by which Release may list the index of a repository. */
export const listIndexFiles = (entry: IndexPlace): string[] =>
  compressions.map((compression) => indexFolder(entry) + nameOf(compression));
