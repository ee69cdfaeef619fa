// The states of a credential set and what is answered in each (protocol, "States and transitions"; decisions, section
// 6). This file decides; the store carries the decision out in one statement that repeats its conditions.
//
//   presented three          state of the set                         refresh            revoke
//   ----------------------   --------------------------------------   ----------------   ----------------
//   of one set               live, not yet expired                    409, nothing       200, family ends
//   of one set               expired, refresh unused, family alive    200, set spent     200, family ends
//   of one set               expired, refresh past its own life       401, nothing       200, family ends
//   of one set               spent at most 10 s ago                   401, nothing       200, family ends
//   of one set               spent more than 10 s ago                 401, family ends   200, family ends
//   of one set               family revoked or account disabled       401, nothing       200
//   refresh of a set, the    spent more than 10 s ago                 401, family ends   401, nothing
//   others not of it         any other                                401, nothing       401, nothing
//   none known               -                                        401, nothing       200, nothing

/**
 * How long, in milliseconds, a spent refresh token may return without counting as theft: the client may have retried
 * its own request.
 */
const reuseGrace = 10_000;

/** What the store knows about a credential set. Times are in milliseconds. */
export interface CredentialSetState {
  readonly expiresAt: number;
  readonly refreshExpiresAt: number;
  readonly spentAt: number | null;
  readonly revokedAt: number | null;
  readonly accountDisabledAt: number | null;
}

export type RefreshDecision = 'rotate' | 'not-expired' | 'refused' | 'reused';

/**
 * What to do with a refresh, given the set that the refresh token belongs to (undefined: none). `whole` says whether
 * the auth token and the payment secret belong to that set, too.
 */
export const decideRefresh = (
  set: CredentialSetState | undefined,
  { whole, now }: { whole: boolean; now: number },
): RefreshDecision => {
  if (set === undefined || set.revokedAt !== null) return 'refused';
  if (set.spentAt !== null) return now - set.spentAt > reuseGrace ? 'reused' : 'refused';
  if (!whole || set.accountDisabledAt !== null) return 'refused';
  if (now < set.expiresAt) return 'not-expired';
  return now < set.refreshExpiresAt ? 'rotate' : 'refused';
};

export type RevokeDecision = 'revoke' | 'unknown' | 'mixed';

/** What to do with a revocation, given the sets that the three presented credentials belong to (undefined: none). */
export const decideRevoke = (sets: {
  auth: string | undefined;
  secret: string | undefined;
  refresh: string | undefined;
}): RevokeDecision => {
  const { auth, secret, refresh } = sets;
  if (auth === undefined && secret === undefined && refresh === undefined) return 'unknown';
  return auth === secret && secret === refresh ? 'revoke' : 'mixed';
};

/** Whether requests with the auth token of this set are authenticated. */
export const isLive = (set: CredentialSetState, now: number): boolean =>
  set.revokedAt === null && set.accountDisabledAt === null && set.spentAt === null && now < set.expiresAt;
