import type { Proxies } from '../net/proxies.ts';
import { createSender } from '../net/sender.ts';
import { BucketDestination } from './bucket-destination.ts';
import { openToScripts } from './cross-origin.ts';
import type { Destination } from './destination.ts';
import { FolderDestination } from './folder-destination.ts';
import { parseS3Address, readBucket } from './s3-address.ts';
import { type Patience, S3Client } from './s3-client.ts';
import { NoDestination } from './upload-error.ts';

/** What a destination is, in words and flags. */
export interface DestinationOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly address: string;
  /** The output folder that is to be uploaded. */
  readonly source: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly filesOnly: boolean;
  /** Whether to let scripts of any site read the bucket. */
  readonly cors: boolean;
  readonly concurrency: number | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly proxies: Proxies | undefined;
  readonly patience?: Patience;
  /** After how many milliseconds what a killed upload left is known for that, in a folder. */
  readonly latchMs?: number;
}

// Of an address, or of a host and a folder on it, as rsync and scp have it. A drive of Windows is one letter, and a folder
// of such a name is one with ./ before it.
const elsewhere = /^[a-z][\w+.@-]+:/i;

/** @throws NoDestination where it is none, UploadError where it cannot be one */
export const openDestination = async (options: DestinationOptions): Promise<Destination> => {
  const { address, source } = options;
  const place = parseS3Address(address);
  if (place === undefined) {
    if (!elsewhere.test(address)) return new FolderDestination(address, source, options.latchMs);
    throw new NoDestination(
      `The destination must be a folder or s3://bucket/prefix (a name of lower-case letters, digits, "." and "-", and segments that are neither empty nor dots), not "${address}".`,
    );
  }
  const bucket = readBucket(place.bucket, options, options.environment);
  const usual = BucketDestination.usualConcurrency;
  const sender = createSender({ connections: options.concurrency ?? usual, proxies: options.proxies });
  const client = new S3Client(bucket, sender, options.patience);
  if (options.cors) await openToScripts(client);
  return new BucketDestination({ client, prefix: place.prefix, addresses: !options.filesOnly });
};
