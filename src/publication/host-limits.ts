import type { PublishedSize } from './size.ts';

/** Limits of a host. What is left out has no limit. */
interface HostLimits {
  readonly host: string;
  readonly files?: number;
  /** Bytes of one file. */
  readonly fileBytes?: number;
  /** Bytes of all files. */
  readonly bytes?: number;
}

// From their documentation: Cloudflare's "Limits" of Pages and of Workers' static assets, GitHub's "Limits on use of
// GitHub Pages".
const hosts: readonly HostLimits[] = [
  { host: 'Cloudflare, free', files: 20_000, fileBytes: 25 * 2 ** 20 },
  { host: 'Cloudflare, paid', files: 100_000, fileBytes: 25 * 2 ** 20 },
  { host: 'GitHub Pages', bytes: 1e9 },
];

/** The limits of a known host that a publication exceeds, in words. */
export interface PassedLimits {
  readonly host: string;
  readonly limits: readonly string[];
}

/** The known hosts on which a publication of this size does not fit, and why. */
export const findPassedLimits = (size: PublishedSize): PassedLimits[] =>
  hosts.flatMap(({ host, files, fileBytes, bytes }) => {
    const limits = [
      ...(files !== undefined && size.files > files ? [`${files.toLocaleString('en')} files`] : []),
      ...(fileBytes !== undefined && size.largest.bytes > fileBytes ? [`${fileBytes / 2 ** 20} MiB a file`] : []),
      ...(bytes !== undefined && size.bytes > bytes ? [`${bytes / 1e9} GB in all`] : []),
    ];
    return limits.length === 0 ? [] : [{ host, limits }];
  });
