// The package has no types; these are for the part that is used.
declare module '@20minutes/s3rver' {
  import type { RequestListener } from 'node:http';

  interface Store {
    getMetadata(bucket: string, key: string): Promise<Record<string, string> & { etag: string }>;
    putContent(file: string, content: unknown): Promise<[number, string]>;
  }

  export default class S3rver {
    constructor(options: {
      directory: string;
      silent: boolean;
      vhostBuckets: boolean;
      configureBuckets: readonly { name: string }[];
    });
    readonly store: Store;
    configureBuckets(): Promise<unknown>;
    callback(): RequestListener;
  }
}
