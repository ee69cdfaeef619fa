import type { Proxies } from '../net/proxies.ts';
import { createSender } from '../net/sender.ts';
import { BucketDestination } from './bucket-destination.ts';
import { openToScripts } from './cross-origin.ts';
import type { Destination } from './destination.ts';
import { FolderDestination } from './folder-destination.ts';
import { parseS3Address, readBucket } from './s3-address.ts';
import { type Patience, S3Client } from './s3-client.ts';
import { NoDestination } from './upload-error.ts';

/** A destination as the command's arguments describe it. */
export interface DestinationOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly address: string;
  /** The output folder to upload. */
  readonly source: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly filesOnly: boolean;
  /** Whether scripts of any site may read the bucket. */
  readonly cors: boolean;
  readonly concurrency: number | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly proxies: Proxies | undefined;
  readonly patience?: Patience;
  /** Called with the reason, a sentence, whenever a bucket is asked again after a pause, or a folder is waited for. */
  readonly onRetry?: (reason: string) => void;
  /** In a folder: after how many milliseconds the latch of an upload counts as left by a killed one. */
  readonly latchMs?: number;
}

// An address, or a host and a folder on it in the notation of rsync and scp. A Windows drive is a single letter. A
// folder with such a name can be given with "./" before it.
const elsewhere = /^[a-z][\w+.@-]+:/i;

/**
 * Opens the destination at an address.
 *
 * @throws NoDestination if the address is no destination; UploadError if it cannot be used
 */
export const openDestination = async (options: DestinationOptions): Promise<Destination> => {
  const { address, source } = options;
  const place = parseS3Address(address);
  if (place === undefined) {
    if (!elsewhere.test(address)) return new FolderDestination(address, source, options);
    throw new NoDestination(
      `The destination must be a folder or s3://bucket/prefix (a name of lower-case letters, digits, "." and "-", and segments that are neither empty nor dots), not "${address}".`,
    );
  }
  const bucket = readBucket(place.bucket, options, options.environment);
  const usual = BucketDestination.usualConcurrency;
  const sender = createSender({ connections: options.concurrency ?? usual, proxies: options.proxies });
  const client = new S3Client(bucket, sender, options);
  if (options.cors) await openToScripts(client);
  return new BucketDestination({ client, prefix: place.prefix, addresses: !options.filesOnly });
};
