import { type Compression, compressions } from '../contract/compressions.ts';
import type { ManifestEntry } from '../contract/manifest.ts';

/** The location of a repository's index below its address. */
export type IndexPlace = Pick<ManifestEntry, 'suite' | 'component' | 'binary'>;

/** The file name of the index in a compression. */
export const nameOf = (compression: Compression): string =>
  compression === 'plain' ? 'Packages' : `Packages.${compression}`;

/** The folder of the index relative to that of Release: "" or "main/binary-arm64/". */
export const indexFolder = (entry: IndexPlace): string =>
  entry.suite === './' ? '' : `${entry.component}/binary-${entry.binary}/`;

/** The location of the index for every architecture, beside that of a suite's architecture. */
export const ofEveryArchitecture = <T extends IndexPlace>(place: T): T | undefined =>
  place.suite === './' || place.binary === 'all' ? undefined : { ...place, binary: 'all' };

/** The paths under which Release may list an index. */
export const listIndexFiles = (entry: IndexPlace): string[] =>
  compressions.map((compression) => indexFolder(entry) + nameOf(compression));

/** The paths under which Release may list the indexes of a repository. */
export const listAllIndexFiles = (place: IndexPlace): string[] =>
  [place, ofEveryArchitecture(place)].flatMap((one) => (one === undefined ? [] : listIndexFiles(one)));
