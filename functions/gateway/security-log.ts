/** Something that happened to an account or its credentials. No token, device identifier, password or typed name. */
interface SecurityEvent {
  readonly event:
    | 'sign-in'
    | 'sign-in-failed'
    | 'sign-in-throttled'
    | 'refresh'
    | 'refresh-refused'
    | 'reuse-detected'
    | 'revoked'
    | 'revoke-refused'
    | 'introspection-refused'
    | 'store-unavailable'
    | 'failure';
  /** Identifier of the account, where one is concerned. */
  readonly account?: string;
  /** Identifier of the sign-in whose credentials are concerned. */
  readonly family?: string;
  readonly address?: string;
  readonly reason?: string;
}

export type SecurityLog = (event: SecurityEvent) => void;

/** Writes each event as one line of JSON with its time. */
export const createSecurityLog =
  (write: (line: string) => void, clock: () => number): SecurityLog =>
  (event) =>
    write(`${JSON.stringify({ time: new Date(clock()).toISOString(), channel: 'security', ...event })}\n`);
