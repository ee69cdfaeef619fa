import type { NetworkErrorCode } from '../net/network-error.ts';

/** What is to be made of a failure of the network, so that none is added without a decision. */
interface NetworkFailure {
  /** What it speaks of: one file, or the origin as a whole, where asking for more files is no use. */
  readonly of: 'file' | 'origin';
  /**
   * Whose fault it is: `trouble` of the connection or the server, where asking again soon adds to it; `content`, which
   * costs the origin little and is worth looking at in every run; `ours`, which says nothing of the origin and is not
   * counted against it.
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
