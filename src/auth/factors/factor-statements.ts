/** SQL that the repositories of factors share. */
import { TWO_FACTORS } from '../../access/caller';
import { Statement } from '../../database/statement';
import { isLive, lockAccount, SessionOwner } from '../accounts/account-statements';

/**
 * Step of the signed-in user: $1 session, $2 user, $3 now, $4 aal, in the order of ownerValues(). `strong`: the account has
 * no verified factor, or the session has verified one.
 */
export const ME = `
  select u.id, s.id as session_id, u.email, ($4 = '${TWO_FACTORS}' or not exists (
      select from auth.factors v where v.user_id = u.id and v.verified_at is not null)) as strong
  from auth.sessions s join auth.users u on u.id = s.user_id
  where s.id = $1 and s.user_id = $2 and ${isLive('$3')}`;

export function ownerValues({ sessionId, userId, aal }: SessionOwner, now: Date): unknown[] {
  return [sessionId, userId, now, aal];
}

/** For the start of a batch that counts or changes a user's factors: the session cannot end before the batch does. */
export const lockOwner = ({ userId, sessionId }: SessionOwner): Statement[] => [
  lockAccount(userId),
  {
    name: 'auth:lock-session',
    text: 'select from auth.sessions where id = $1 for no key update',
    values: [sessionId],
  },
];

/**
 * Step that lowers the sessions of an account to one factor if its last verified factor is deleted in the step `gone`.
 * @param factor SQL: the id of the deleted factor, which the statement's snapshot still contains
 */
export const lowerSessions = (factor: string): string => `
  update auth.sessions s set aal = 'aal1' from gone where s.user_id = gone.id and s.aal = '${TWO_FACTORS}'
    and not exists (select from auth.factors v where v.user_id = gone.id and v.verified_at is not null and v.id <> ${factor})`;
