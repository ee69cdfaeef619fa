import type { NetworkErrorCode } from '../net/network-error.ts';
import type { Baseline } from '../snapshots/snapshot.ts';

// What each failure of a crawl means to the operator. `{}` stands for the evidence.
const sentences = {
  // The network (net/network-error.ts).
  'address-refused': 'The address leads to a network that is not public: {}. Allow private networks if that is meant.',
  'port-refused': 'The origin redirects to a port that no web server uses: {}.',
  'scheme-refused': 'The origin redirects to something that is not http or https: {}.',
  redirects: 'The origin redirects without end: {}.',
  'redirect-insecure': 'The origin redirects from https to http, which is not followed: {}.',
  'redirect-unreadable': 'The origin redirects to an address that cannot be read: {}.',
  dns: 'The host name does not resolve: {}. Check the address in the manifest.',
  connection: 'The origin could not be reached: {}.',
  tls: 'The certificate or the encryption of the origin is not in order: {}.',
  timeout: 'The origin did not answer in time: {}.',
  'too-slow': 'The origin sent too slowly: {}.',
  'too-large': 'A file is larger than a repository needs: {}.',
  'headers-too-large': 'The origin answered with oversized headers: {}.',
  truncated: 'The connection ended before a file was whole: {}.',
  protocol: 'The origin answered with something that is not HTTP: {}.',
  aborted: 'The crawl was stopped: {}.',
  // The origin.
  'origin-busy': 'The origin asked for a pause: {}.',
  'server-error': 'The origin reports an error of its own: {}.',
  'budget-exceeded': 'The repository took longer than one repository may: {}.',
  'backing-off': 'Not asked, because it failed before: {}.',
  // Release.
  'release-missing': 'The origin has neither InRelease nor Release: {}. Check address and suite in the manifest.',
  'release-forbidden': 'The origin refuses to give its Release: {}.',
  'release-html': 'The origin answers with a web page where its Release should be: {}.',
  'release-empty': 'The Release of the origin is empty: {}.',
  'release-unreadable': 'The Release of the origin holds no Release: {}.',
  'release-length-unknown': 'The Release may have been cut short, for the origin does not say how long it is: {}.',
  'release-older': 'The Release is older than the last one accepted, so the data from before stays: {}.',
  'signature-missing': 'The Release is not signed, though the manifest names a key: {}.',
  'signature-unanswered': 'The origin did not say whether its Release is signed, and the manifest names a key: {}.',
  'signature-lost': 'The Release is no longer signed: {}.',
  'signature-bad': 'The signature of the Release does not fit it: {}.',
  'signature-weak': 'The signature of the Release uses methods that prove nothing any more: {}.',
  'signature-key-changed': 'The Release is signed by another key than before, or than the manifest names: {}.',
  'signature-key-expired': 'The key that signed the Release has expired: {}.',
  'signature-key-revoked': 'The key that signed the Release was revoked: {}.',
  'signature-expired': 'The signature of the Release has expired: {}.',
  // Packages.
  'index-missing': 'The origin has no Packages index in any compression: {}.',
  'index-forbidden': 'The origin refuses to give its Packages index: {}.',
  'index-html': 'The origin answers with a web page where its Packages index should be: {}.',
  'index-empty': 'The Packages index is empty and no hash in Release says that it should be: {}.',
  'index-wrong-compression': 'The Packages index is not compressed as its name says: {}.',
  'index-truncated': 'The Packages index ends in the middle: {}.',
  'index-corrupt': 'The Packages index cannot be decompressed: {}.',
  'index-bomb': 'The Packages index decompresses to more than any repository needs: {}.',
  'index-trailing-garbage': 'Something that does not belong to it follows the Packages index: {}.',
  'index-too-large': 'The Packages index is larger than allowed: {}.',
  'index-unreadable': 'The Packages index names no package: {}.',
  'index-length-unknown':
    'The Packages index may have been cut short, and no hash in Release shows that it is whole: {}.',
  'index-encoded': 'The origin compresses the Packages index for the transfer though it was asked not to: {}.',
  'index-mismatch': 'The Packages index is not the one that Release describes: {}.',
  'index-shrunken': 'More than half of the packages are gone, so the data from before stays: {}.',
  // Ourselves.
  'store-failed': 'The snapshot could not be read or written: {}.',
  internal: 'The crawler itself failed: {}.',
} as const satisfies Record<NetworkErrorCode, string> & Record<string, string>;

/** Why a repository was not crawled anew. Stable. */
export type CrawlCode = keyof typeof sentences;

/** A repository, or one of its files, that cannot be used. The evidence in words is `detail`. */
export class CrawlError extends Error {
  override readonly name = 'CrawlError';
  readonly code: CrawlCode;
  readonly detail: string;
  /** No request to this host before, where the origin said so. */
  readonly notBefore: Date | undefined;
  /** What was found and not taken, where the operator may want it all the same. */
  readonly refused: Baseline | undefined;

  constructor(code: CrawlCode, detail: string, options?: { cause?: unknown; notBefore?: Date; refused?: Baseline }) {
    super(
      sentences[code].replace('{}', () => detail),
      options,
    );
    this.code = code;
    this.detail = detail;
    this.notBefore = options?.notBefore;
    this.refused = options?.refused;
  }
}
