import type { ReleaseEntry, ReleaseFile } from '../apt/release.ts';
import { type Compression, compressions } from '../contract/compressions.ts';
import type { ManifestEntry } from '../contract/manifest.ts';
import { releaseFolder } from './fetch-release.ts';
import { type IndexPlace, indexFolder, nameOf } from './index-names.ts';

/** A file that may contain the Packages index. */
export interface Candidate {
  readonly compression: Compression;
  /** Below the repository's address, with a leading "/". */
  readonly path: string;
  /** The entry in Release for exactly this file. */
  readonly listed: ReleaseEntry | undefined;
  /** The entry in Release for the uncompressed index, if there is none for this file. */
  readonly listedText: ReleaseEntry | undefined;
}

/** Whether Release lists a hash for the file, and not only its size. */
const hasHash = (entry: ReleaseEntry | undefined): entry is ReleaseEntry =>
  entry !== undefined && (entry.sha512 ?? entry.sha256 ?? entry.sha1 ?? entry.md5) !== undefined;

const isStrong = (entry: ReleaseEntry | undefined): boolean => (entry?.sha512 ?? entry?.sha256) !== undefined;

/** Whether Release lists a strong hash for the index in this compression, or for its text. */
export const isListedStrongly = (entry: ManifestEntry, release: ReleaseFile, compression: Compression): boolean => {
  const folder = indexFolder(entry);
  const own = release.files.get(folder + nameOf(compression));
  return isStrong(hasHash(own) ? own : release.files.get(`${folder}Packages`));
};

/**
 * The files to try for a repository's Packages index, in order. If Release lists hashes for any of them, only those
 * that a hash can confirm: the listed files, and those that decompress to a listed text. Otherwise all, with
 * `preferred` (the path of the last snapshot) first.
 */
export const listCandidates = (entry: IndexPlace, release: ReleaseFile, preferred?: string): Candidate[] => {
  const folder = indexFolder(entry);
  const base = `${releaseFolder(entry.suite)}/${folder}`;
  const text = release.files.get(`${folder}Packages`);
  const all = compressions.map((compression): Candidate => {
    const own = release.files.get(folder + nameOf(compression));
    return {
      compression,
      path: base + nameOf(compression),
      listed: hasHash(own) ? own : undefined,
      listedText: hasHash(text) ? text : undefined,
    };
  });
  const listed = all.filter((candidate) => candidate.listed);
  if (listed.length > 0) {
    const derived = all.filter((candidate) => !candidate.listed && candidate.listedText);
    return [...listed.flatMap((candidate) => [...byHash(candidate, release, base), candidate]), ...derived];
  }
  return all.sort((a, b) => Number(b.path === preferred) - Number(a.path === preferred));
};

// https://wiki.debian.org/DebianRepository/Format: the same file under its hash, which no update overwrites.
const byHash = (candidate: Candidate, release: ReleaseFile, base: string): Candidate[] =>
  release.acquireByHash && candidate.listed?.sha256 !== undefined
    ? [{ ...candidate, path: `${base}by-hash/SHA256/${candidate.listed.sha256}` }]
    : [];
