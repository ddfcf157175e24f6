/** The session of a signed-in user, and the SQL conditions under which it is live. */
import { AssuranceLevel } from '../../access/caller';

export interface SessionOwner {
  readonly userId: string;
  readonly sessionId: string;
  /** Of the access token: aal1 if the token was issued before the session was raised to aal2. */
  readonly aal: AssuranceLevel;
}

/** SQL: true if the account `u` is not banned. @param now SQL, such as `$3` */
export const isNotBanned = (now: string): string => `(u.banned_until is null or u.banned_until <= ${now})`;

/** SQL: true if the session `s` of the account `u` is live. @param now SQL, such as `$3` */
export const isLive = (now: string): string =>
  `s.revoked_at is null and s.expires_at > ${now} and ${isNotBanned(now)}`;
