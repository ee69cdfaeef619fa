import type { LocalFile } from './local-publication.ts';

/** A small file of a destination, and a tag that another content of it does not have. */
export interface Tagged {
  readonly bytes: Buffer;
  readonly tag: string;
}

/**
 * Where a publication is uploaded to. A name is a path below the destination, with "/" between segments; a file may
 * stand under several names. What is put appears whole or not at all. Everything but `Conflict` that these throw is an
 * `UploadError`, or an error of the system.
 */
export interface Destination {
  /** What people call it. */
  readonly title: string;
  /** How many files are sent at once unless whoever runs this says otherwise. */
  readonly usualConcurrency: number;
  /** The names of a published file. `isTaken` says whether another file has that name as its own. */
  namesOf(path: string, isTaken: (name: string) => boolean): readonly string[];
  /** The names that a published file has, or had when it was sent in another way. */
  everyNameOf(path: string): readonly string[];
  /** What is said of a file to those who ask for it; where that changes, an unchanged file has to be sent anew. */
  formOf(path: string): string;
  /** Whether nothing stands at the destination. */
  isEmpty(): Promise<boolean>;
  /** To be called by whoever alone may write, before the first file: what was left half-written goes. */
  begin(): Promise<void>;
  read(name: string): Promise<Tagged | undefined>;
  /** What stands under a name: a file with these bytes, and with what is to be said of it; another; or none. */
  look(name: string, path: string, sha256: string): Promise<'same' | 'other' | 'none'>;
  /** Puts a published file under a name of it. */
  put(name: string, path: string, file: LocalFile): Promise<void>;
  /**
   * Replaces a small file that has this tag still, or that does not stand there yet (undefined). Returns its tag.
   *
   * @throws Conflict where another has replaced it
   */
  replace(name: string, bytes: Buffer, tag: string | undefined): Promise<string>;
  /** Whether `replace` is sure that nobody replaces the same file at the same time. */
  isSure(): boolean;
  /** Removes what stands under a name, if anything does. */
  remove(name: string): Promise<void>;
  /** Resolves when all that was put so far outlives a power cut. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
