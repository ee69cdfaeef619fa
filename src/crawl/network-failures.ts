import type { NetworkErrorCode } from '../net/network-error.ts';

/** How to treat a network failure. Every code needs a decision. */
interface NetworkFailure {
  /** What it concerns: one file, or the origin as a whole, so that requesting more files is useless. */
  readonly of: 'file' | 'origin';
  /**
   * The kind of fault: `trouble` of the connection or the server, which further requests would increase; `content`,
   * which costs the origin little and is worth checking in every run; `ours`, which says nothing about the origin and
   * does not count against it.
   */
  readonly fault: Fault;
}
export type Fault = 'trouble' | 'content' | 'ours';

export const networkFailures: Readonly<Record<NetworkErrorCode, NetworkFailure>> = {
  'address-refused': { of: 'origin', fault: 'content' },
  'port-refused': { of: 'file', fault: 'content' },
  'scheme-refused': { of: 'file', fault: 'content' },
  redirects: { of: 'file', fault: 'content' },
  'redirect-insecure': { of: 'file', fault: 'content' },
  'redirect-unreadable': { of: 'file', fault: 'content' },
  'no-network': { of: 'origin', fault: 'ours' },
  dns: { of: 'origin', fault: 'trouble' },
  connection: { of: 'origin', fault: 'trouble' },
  'certificate-expired': { of: 'origin', fault: 'trouble' },
  'certificate-untrusted': { of: 'origin', fault: 'trouble' },
  'certificate-name': { of: 'origin', fault: 'trouble' },
  tls: { of: 'origin', fault: 'trouble' },
  timeout: { of: 'origin', fault: 'trouble' },
  'too-slow': { of: 'origin', fault: 'trouble' },
  'too-large': { of: 'file', fault: 'content' },
  'headers-too-large': { of: 'file', fault: 'content' },
  truncated: { of: 'file', fault: 'content' },
  protocol: { of: 'file', fault: 'content' },
  aborted: { of: 'origin', fault: 'ours' },
};
