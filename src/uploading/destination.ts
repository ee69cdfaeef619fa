import type { LocalFile } from './local-publication.ts';

/** A small file of a destination, with a tag that changes with its content. */
export interface Tagged {
  readonly bytes: Buffer;
  readonly tag: string;
}

/**
 * Where a publication is uploaded to. A name is a path below the destination, with "/" between segments; a file may
 * have several names. A file appears whole or not at all. Besides `Conflict`, all methods throw only `UploadError` and
 * errors of the system.
 */
export interface Destination {
  /** Its name in messages. */
  readonly title: string;
  /** How many files are sent at once by default. */
  readonly usualConcurrency: number;
  /** The names of a published file. `isTaken` says whether a name is the path of another file. */
  namesOf(path: string, isTaken: (name: string) => boolean): readonly string[];
  /** The names that a published file has, or had if it was sent with other options. */
  everyNameOf(path: string): readonly string[];
  /** Identifies the headers that a file is served with. If they change, even an unchanged file has to be sent again. */
  formOf(path: string): string;
  /** Whether the destination is empty. */
  isEmpty(): Promise<boolean>;
  /** Must be called before the first file, by the only upload that may write: removes half-written files. */
  begin(): Promise<void>;
  read(name: string): Promise<Tagged | undefined>;
  /** What exists under a name: a file with these bytes and the right headers, another file, or none. */
  look(name: string, path: string, sha256: string): Promise<'same' | 'other' | 'none'>;
  /** Writes a published file under one of its names. */
  put(name: string, path: string, file: LocalFile): Promise<void>;
  /**
   * Replaces a small file if it still has this tag or, if that is undefined, does not exist yet. Returns its new tag.
   *
   * @throws Conflict if somebody else has replaced it
   */
  replace(name: string, bytes: Buffer, tag: string | undefined): Promise<string>;
  /** Whether `replace` surely notices if somebody else replaces the same file at the same time. */
  isSure(): boolean;
  /** Removes the file with a name, if there is one. */
  remove(name: string): Promise<void>;
  /** Resolves when everything that was put so far would survive a power failure. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
