/** What strangers and clients do: of interest to whoever watches the server. */
const watched = [
  'sign-in-failed',
  'sign-in-throttled',
  'introspection-refused',
  'store-unavailable',
  'failure',
] as const;

/** What changes who may do what, or was meant to: what an audit asks for. */
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

/** Something that happened to an account or its credentials. No token, device identifier, password or typed name. */
export interface SecurityEvent {
  readonly event: (typeof watched)[number] | (typeof audited)[number];
  /** Identifier of the account, where one is concerned. */
  readonly account?: string;
  /** The account's name, where an operator named it or a provider gave it. */
  readonly name?: string;
  /** Identifier of the sign-in whose credentials are concerned. */
  readonly family?: string;
  readonly address?: string;
  readonly reason?: string;
  /** Who ran the command, by the name that the operating system has for them. */
  readonly operator?: string;
  /** Sign-ins that ended. */
  readonly devices?: number;
}

export type SecurityLog = (event: SecurityEvent) => void;

/** An event as it is told whoever watches the server. */
export interface ToldEvent extends SecurityEvent {
  /** ISO 8601. */
  readonly time: string;
  readonly channel: 'security';
}

/** How long, in milliseconds, what is repeated is not written again. */
const repeatWindow = 10 * 60_000;
const mostRemembered = 10_000;

// What a client may repeat at will, for a sign-in of its own, or whoever the provider knows for a name there.
const repeatable: ReadonlySet<string> = new Set(['refresh-refused', 'revoked', 'revoke-refused', 'sign-in-refused']);

/**
 * Lines of one kind about one account within that time: whoever has an account may sign in and out as often as they
 * like, each time by a sign-in that was not there before. The last line says that others are left out.
 */
const mostOfAccount = 50;
const leftOut = 'more are left out';

// What somebody does with their own account. Not what strangers do to it, by which they would keep out of the log what
// they do next.
const ofHolder: ReadonlySet<string> = new Set([...repeatable, 'sign-in', 'reuse-detected']);

/**
 * Tells `tell` of each event, with its time, and writes those of the audit as lines of JSON to `audit`. The same thing
 * about the same sign-in, or refused to the same person, is written once in ten minutes, from whatever addresses it is
 * done, so that nobody can push out of the log what came before.
 */
export const createSecurityLog = (
  { tell, audit }: { tell: (told: ToldEvent) => void; audit: (line: string) => void },
  clock: () => number,
): SecurityLog => {
  const seen = new Map<string, { readonly since: number; times: number }>();
  /** How often this has happened lately. */
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
