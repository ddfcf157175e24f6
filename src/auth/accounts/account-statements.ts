/** Statements that batches of several folders share. */
import { Statement } from '../../database/statement';
import { ACCOUNT_COLUMNS } from './account-record';
import { AssuranceLevel } from '../../access/caller';

/**
 * For the start of a batch. Each later statement takes its snapshot after the lock, so it sees the changes of transactions
 * that held the lock before. A lock inside a statement would come after that statement's snapshot.
 */
export const lockAccount = (userId: string): Statement => ({
  name: 'auth:lock-account',
  text: 'select from auth.users where id = $1 for no key update',
  values: [userId],
});

/**
 * For a batch, before a statement that may run or wait for code of the project's owner: functions, triggers, locks. A
 * statement that hangs must not hold a connection or a worker for long.
 */
export const SHORT_TIMEOUT: Statement = {
  name: 'auth:short-timeout',
  text: `select pg_catalog.set_config('statement_timeout', '5s', true)`,
  // A function can catch the error of the timeout, and go on.
  endsAfterMs: 10_000,
};

/**
 * Step of a statement whose step `changed` proves an address: the account, if its address was not proved before, so that
 * anybody may have created it. The statement's snapshot has the row before the change.
 */
export const UNPROVED = `select u.id from auth.users u join changed on changed.id = u.id where u.email_verified_at is null`;

/** SQL: an entry of auth.sessions.amr in a list. @param method SQL @param now SQL */
export const methodReference = (method: string, now: string): string =>
  `jsonb_build_array(jsonb_build_object('method', ${method}::text, 'timestamp', floor(extract(epoch from ${now}::timestamptz))::bigint))`;

/** Steps after UNPROVED that remove what the creator of the account could use to keep access. */
export const DROP_FACTORS = 'delete from auth.factors f using unproved where f.user_id = unproved.id';
export const DROP_PASSKEYS = 'delete from auth.passkeys p using unproved where p.user_id = unproved.id';
export const DROP_IDENTITIES = 'delete from auth.identities i using unproved where i.user_id = unproved.id';
/** SQL: app_data of the account `u` after the proof of its address, which removes identities. @param applies SQL */
export const appDataAfterProof = (applies: string): string => `case
  when u.email_verified_at is null and ${applies} then u.app_data - array['provider', 'providers'] else u.app_data end`;
export const DROP_ADDRESS_CHANGES = `delete from auth.mailed_tokens c using unproved
  where c.user_id = unproved.id and c.kind = 'email_change'`;

export interface SessionOwner {
  readonly userId: string;
  readonly sessionId: string;
  /** Level in the access token: aal1 if the token was issued before the session was raised to aal2. */
  readonly aal: AssuranceLevel;
}

/**
 * The account of a valid token: not banned, and with a live session if the token names one.
 * @param sessionId null for a token that the project's own backend signed
 */
export const liveAccount = (id: string, sessionId: string | null, now: Date): Statement => ({
  name: 'auth:live-account',
  text: `select ${ACCOUNT_COLUMNS} from auth.users u
    where u.id = $1 and ${isNotBanned('$3')} and ($2::uuid is null or exists (
      select from auth.sessions s where s.id = $2 and s.user_id = u.id and ${isLive('$3')}))`,
  values: [id, sessionId, now],
});

/** SQL: true if the account `u` is not banned. @param now SQL, such as `$3` */
export const isNotBanned = (now: string): string => `(u.banned_until is null or u.banned_until <= ${now})`;

/** SQL: true if the session `s` of the account `u` is live. @param now SQL, such as `$3` */
export const isLive = (now: string): string =>
  `s.revoked_at is null and s.expires_at > ${now} and ${isNotBanned(now)}`;

/**
 * SQL: the value of a column of JSON objects after a change. The members are merged by PostgreSQL, so that no parallel change is
 * lost; a change that makes the value too long to be read back is ignored.
 * @param merges SQL: true if the members of the change replace those of the same name, and null removes one
 */
export const changedJson = (
  column: string,
  change: string,
  merges: string,
  limit: number,
): string => `case when not ${merges}::boolean then coalesce(${change}::jsonb, ${column}) else (
  select case when pg_catalog.octet_length(merged.value::text) <= ${limit} then merged.value else ${column} end
  from (select (${column} || given.value) - array(select each.key from pg_catalog.jsonb_each(given.value) each
      where each.value = 'null') as value
    from (select coalesce(${change}::jsonb, '{}') as value) given) merged) end`;
