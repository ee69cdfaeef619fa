import type { PublishedSize } from './size.ts';

/** What a host takes at most; what is left out it does not bound. */
interface HostLimits {
  readonly host: string;
  readonly files?: number;
  /** Bytes of one file. */
  readonly fileBytes?: number;
  /** Bytes of all files. */
  readonly bytes?: number;
}

// As their documentation says: Cloudflare's "Limits" of Pages and of Workers' static assets, GitHub's "Limits on use of
// GitHub Pages".
const hosts: readonly HostLimits[] = [
  { host: 'Cloudflare, free', files: 20_000, fileBytes: 25 * 2 ** 20 },
  { host: 'Cloudflare, paid', files: 100_000, fileBytes: 25 * 2 ** 20 },
  { host: 'GitHub Pages', bytes: 1e9 },
];

/** The limits of a known host that a publication passes, as words. */
export interface PassedLimits {
  readonly host: string;
  readonly limits: readonly string[];
}

/** The known hosts that do not hold a publication of this size, and why. */
export const findPassedLimits = (size: PublishedSize): PassedLimits[] =>
  hosts.flatMap(({ host, files, fileBytes, bytes }) => {
    const limits = [
      ...(files !== undefined && size.files > files ? [`${files.toLocaleString('en')} files`] : []),
      ...(fileBytes !== undefined && size.largest.bytes > fileBytes ? [`${fileBytes / 2 ** 20} MiB a file`] : []),
      ...(bytes !== undefined && size.bytes > bytes ? [`${bytes / 1e9} GB in all`] : []),
    ];
    return limits.length === 0 ? [] : [{ host, limits }];
  });
