/** Stores users of another system, hundreds in one statement. */
import { Injectable } from '@nestjs/common';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { RecordReader } from '../../database/rows/record-reader';
import type { Project } from '../../projects/project';
import {
  DROP_ADDRESS_CHANGES,
  DROP_FACTORS,
  DROP_IDENTITIES,
  DROP_PASSKEYS,
  SHORT_TIMEOUT,
} from '../accounts/account-statements';
import { MAX_IDENTITIES } from '../accounts/identity';
import type { ImportedUser } from './imported-user';

const REASON = 'an administrator imports accounts; no role of a caller has privileges on auth.users';

export interface StoredUsers {
  readonly created: number;
  readonly updated: number;
  readonly identities: number;
}

@Injectable()
export class UserImportRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /**
   * A user exists if the id, else the address, else the phone is that of an account. Existing users stay as they are, or get
   * the values that are given. All or none are stored.
   */
  async store(
    project: Project,
    users: readonly ImportedUser[],
    updates: boolean,
    now: Date,
  ): Promise<StoredUsers> {
    const rows = JSON.stringify(users.map((user, n) => ({ n, ...user })));
    const statement = {
      name: updates ? 'auth:update-imported' : 'auth:insert-imported',
      text: updates ? UPDATING : SKIPPING,
      values: [rows, now],
      endsSessions: updates,
    };
    const [, stored] = await this.rls.systemBatch(project.database, REASON, [SHORT_TIMEOUT, statement]);
    const counts = new RecordReader('auth.users', stored?.rows[0]);
    return {
      created: counts.integer('created', 0, users.length),
      updated: counts.integer('updated', 0, users.length),
      identities: counts.integer('identities', 0, users.length * MAX_IDENTITIES),
    };
  }
}

const LINES = `r as materialized (select * from pg_catalog.json_to_recordset($1::json) as r(n int, id uuid, email text,
    email_key text, name text, encrypted_password text, data jsonb, app_data jsonb, email_verified_at timestamptz,
    phone text, phone_verified_at timestamptz, banned_until timestamptz, created_at timestamptz,
    last_sign_in_at timestamptz, identities json)),
  m as materialized (select r.n, coalesce(r.id, pg_catalog.gen_random_uuid()) as new_id, coalesce(
      (select u.id from auth.users u where u.id = r.id),
      (select u.id from auth.users u where u.email_key = r.email_key),
      (select u.id from auth.users u where u.phone = r.phone)) as old_id from r),
  created as (insert into auth.users (id, email, email_key, name, encrypted_password, data, app_data, is_anonymous,
      email_verified_at, phone, phone_verified_at, banned_until, created_at, updated_at, last_sign_in_at)
    select m.new_id, r.email, r.email_key, r.name, r.encrypted_password, r.data, r.app_data,
      r.email_key is null and r.phone is null, r.email_verified_at, r.phone, r.phone_verified_at, r.banned_until,
      coalesce(r.created_at, $2), $2, r.last_sign_in_at
    from r join m using (n) where m.old_id is null order by n on conflict do nothing returning id)`;

/** @param owners SQL: a query that returns `n` and `id` */
const linking = (owners: string): string => `linked as (
    insert into auth.identities (id, user_id, provider, issuer, subject, data, last_sign_in_at, created_at, updated_at)
    select pg_catalog.gen_random_uuid(), o.id, i.provider, i.issuer, i.subject, i.data, i.last_sign_in_at,
      coalesce(i.created_at, $2), $2
    from (${owners}) o join r using (n), lateral pg_catalog.json_to_recordset(r.identities) as i(provider text,
      issuer text, subject text, data jsonb, created_at timestamptz, last_sign_in_at timestamptz)
    on conflict do nothing returning 1)`;

const CREATED =
  'select m.n, m.new_id as id from m join created on created.id = m.new_id where m.old_id is null';

const counting = (updated: string): string => `select (select count(*)::int from created) as created,
  ${updated} as updated, (select count(*)::int from linked) as identities`;

const SKIPPING = `with ${LINES}, ${linking(CREATED)} ${counting('0')}`;

/**
 * The snapshot of the statement has the accounts as they were. A new password or a ban ends the sessions of an account. If the
 * import proves an address that was not proved before, the creator of the account loses access.
 */
const UPDATING = `with ${LINES},
  o as materialized (select distinct on (u.id) m.n, u.id, u.email_verified_at is null and u.email <> ''
      and r.email_verified_at is not null as proves,
      u.encrypted_password is distinct from coalesce(r.encrypted_password, u.encrypted_password)
      or r.banned_until > $2 as ends
    from m join r using (n) join auth.users u on u.id = m.old_id order by u.id, m.n),
  changed as (update auth.users u set
      email = coalesce(nullif(r.email, ''), u.email), email_key = coalesce(r.email_key, u.email_key),
      name = coalesce(nullif(r.name, ''), u.name), data = r.data, app_data = r.app_data,
      encrypted_password = case when o.proves then r.encrypted_password
        else coalesce(r.encrypted_password, u.encrypted_password) end,
      email_verified_at = coalesce(u.email_verified_at, r.email_verified_at),
      phone = coalesce(r.phone, u.phone), phone_verified_at = coalesce(r.phone_verified_at, u.phone_verified_at),
      banned_until = r.banned_until, created_at = coalesce(r.created_at, u.created_at),
      is_anonymous = u.is_anonymous and r.email_key is null and r.phone is null, updated_at = $2
    from o join r using (n) where u.id = o.id returning u.id),
  unproved as (select id from o where proves),
  factors as (${DROP_FACTORS}), passkeys as (${DROP_PASSKEYS}), unlinked as (${DROP_IDENTITIES}),
  addresses as (${DROP_ADDRESS_CHANGES}),
  tokens as (delete from auth.mailed_tokens t using o
    where t.user_id = o.id and (o.ends or o.proves) and t.kind in ('reset', 'invite')),
  ended as (update auth.sessions s set revoked_at = $2 from o
    where s.user_id = o.id and (o.ends or o.proves) and s.revoked_at is null),
  ${linking(`${CREATED} union all select n, id from o`)}
  ${counting('(select count(*)::int from changed)')}`;
