import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { listFiles } from '../../src/publication/folder-entries.ts';
import { LocalPublication } from '../../src/uploading/local-publication.ts';
import { type DestinationOptions, openDestination } from '../../src/uploading/open-destination.ts';
import { type UploadOptions, upload } from '../../src/uploading/upload.ts';
import { bucket, type ObjectStoreServer, storeCredentials } from './object-store.ts';

const dayMs = 86_400_000;
/** Times of claims, and retries, that are short enough for tests; in milliseconds. */
const quickTimes = { renewMs: 50, silentMs: 400, pollMs: 10, settleMs: 30 };
const quickPatience = { tries: 12, firstTries: 3, pauseMs: 2, longestPauseMs: 50 };

/** A destination, and a way to read what it contains. */
export interface UploadTarget {
  readonly title: string;
  readonly options: Partial<DestinationOptions> & { readonly address: string };
  read(name: string): Buffer | undefined;
  /** The names of all files there. */
  names(): string[];
}

export const folderTarget = (folder: string): UploadTarget => ({
  title: folder,
  options: { address: folder },
  read: (name) => {
    const file = path.join(folder, name);
    return existsSync(file) ? readFileSync(file) : undefined;
  },
  names: () => (existsSync(folder) ? [...listFiles(folder)].sort() : []),
});

export const storeTarget = (server: ObjectStoreServer, prefix: string, endpoint = server.endpoint): UploadTarget => {
  const address = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  const before = prefix === '' ? '' : `${prefix}/`;
  return {
    title: address,
    options: { address, endpoint, environment: storeCredentials },
    read: (name) => server.read(before + name),
    names: () =>
      server
        .keys()
        .filter((key) => key.startsWith(before))
        .map((key) => key.slice(before.length)),
  };
};

/** Uploads an output folder as the command does. */
export const send = async (
  out: string,
  target: UploadTarget,
  options: Partial<UploadOptions> = {},
  flags: Partial<DestinationOptions> = {},
) => {
  const destination = await openDestination({
    source: out,
    endpoint: undefined,
    region: undefined,
    filesOnly: false,
    cors: false,
    concurrency: undefined,
    environment: {},
    proxies: undefined,
    patience: quickPatience,
    ...target.options,
    ...flags,
  });
  try {
    return await upload({
      publication: new LocalPublication(out, 200),
      destination,
      keepRemovedMs: dayMs,
      times: quickTimes,
      ...options,
    });
  } finally {
    await destination.close();
  }
};
