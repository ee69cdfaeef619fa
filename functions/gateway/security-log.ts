/** What clients and strangers do: of interest to whoever watches the server. */
const watched = [
  'sign-in-failed',
  'sign-in-throttled',
  'introspection-refused',
  'store-unavailable',
  'failure',
] as const;

/** What changes, or was meant to change, who may do what: for an audit. */
const audited = [
  'account-added',
  'account-password-set',
  'account-disabled',
  'account-enabled',
  'account-signed-out',
  'account-removed',
  'everybody-signed-out',
  'store-restored',
  'sign-in',
  'sign-in-refused',
  'refresh-refused',
  'reuse-detected',
  'revoked',
  'revoke-refused',
] as const;

/**
 * Something that happened to an account or its credentials. It contains no token, device identifier, password or typed
 * name.
 */
export interface SecurityEvent {
  readonly event: (typeof watched)[number] | (typeof audited)[number];
  /** Identifier of the account, if one is involved. */
  readonly account?: string;
  /** The account's name, if an operator named it or a provider gave it. */
  readonly name?: string;
  /** Identifier of the sign-in that the credentials belong to. */
  readonly family?: string;
  readonly address?: string;
  readonly reason?: string;
  /** Who ran the command, by the user name in the operating system. */
  readonly operator?: string;
  /** How many sign-ins ended. */
  readonly devices?: number;
}

export type SecurityLog = (event: SecurityEvent) => void;

/** An event as the operator sees it. */
export interface ToldEvent extends SecurityEvent {
  /** ISO 8601. */
  readonly time: string;
  readonly channel: 'security';
}

/** For how long, in milliseconds, a repeated event is not written again. */
const repeatWindow = 10 * 60_000;
const mostRemembered = 10_000;

// What a client can repeat at will for its own sign-in, or anybody whom the provider knows for a name there.
const repeatable: ReadonlySet<string> = new Set(['refresh-refused', 'revoked', 'revoke-refused', 'sign-in-refused']);

/**
 * The most lines of one kind about one account within that time: users may sign in and out as often as they like, and
 * every time it is a new sign-in. The last line says that others are left out.
 */
const mostOfAccount = 50;
const leftOut = 'more are left out';

// What users do with their own accounts. Not what strangers do to them: they could use the limit to hide their next
// actions.
const ofHolder: ReadonlySet<string> = new Set([...repeatable, 'sign-in', 'reuse-detected']);

/**
 * Passes each event to `tell`, with its time, and writes audited ones to `audit` as lines of JSON. The same event for
 * the same sign-in, or a refusal of the same person, is written once in ten minutes, whatever the address, so that
 * nobody can push earlier lines out of the log.
 */
export const createSecurityLog = (
  { tell, audit }: { tell: (told: ToldEvent) => void; audit: (line: string) => void },
  clock: () => number,
): SecurityLog => {
  const seen = new Map<string, { readonly since: number; times: number }>();
  /** How often this has happened in the last ten minutes. */
  const count = (key: string, now: number): number => {
    const before = seen.get(key);
    if (before !== undefined && now - before.since < repeatWindow && now >= before.since) return ++before.times;
    seen.delete(key);
    seen.set(key, { since: now, times: 1 });
    const [oldest] = seen.keys();
    if (seen.size > mostRemembered && oldest !== undefined) seen.delete(oldest);
    return 1;
  };
  return (happened) => {
    const now = clock();
    const { event: kind, account, family, name, reason } = happened;
    const whose = family ?? name;
    if (repeatable.has(kind) && whose !== undefined && count(`${kind} ${whose} ${reason}`, now) > 1) return;
    const lines = ofHolder.has(kind) && account !== undefined ? count(`${kind} ${account}`, now) : 0;
    if (lines > mostOfAccount) return;
    const event = lines === mostOfAccount ? { ...happened, reason: leftOut } : happened;
    tell({ time: new Date(now).toISOString(), channel: 'security', ...event });
    if (auditedEvents.has(event.event)) audit(formatEvent(event, now));
  };
};

const auditedEvents: ReadonlySet<string> = new Set(audited);

/** One line of the audit log; `now` in milliseconds. */
export const formatEvent = (event: SecurityEvent, now: number): string =>
  `${JSON.stringify({ time: new Date(now).toISOString(), channel: 'audit', ...event })}\n`;
