/** Rows of auth.identities. An identity is added and removed while its account is locked. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DatabaseError } from 'pg';
import type { JsonObject } from '../../common/text/json';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import { Statement } from '../../database/statement';
import type { Project } from '../../projects/project';
import type { NewAccount } from '../accounts/account';
import { ACCOUNT_COLUMNS, Credentials, isTakenAddress, toCredentials } from '../accounts/account-record';
import { isLive, isNotBanned, lockAccount } from '../accounts/account-statements';
import { accountInsertion } from '../accounts/account.repository';
import { type AuditEntry, withAudit } from '../audit/audit-entry';
import { MAX_IDENTITIES } from '../accounts/identity';
import type { ProviderIdentity } from './provider-identity';

const REASON = 'an identity of a provider is the only credential';
const SESSION_REASON = 'auth.identities is closed to the roles of callers';

/** The account that gets an identity. */
export type LinkTarget =
  /** The account of a live session. */
  | { readonly userId: string; readonly sessionId: string }
  /** An account whose address both sides have proved. */
  | { readonly emailKey: string };

export type LinkOutcome = 'linked' | 'taken' | 'refused';
export type UnlinkOutcome = 'unlinked' | 'unknown' | 'last' | 'refused';

@Injectable()
export class IdentityRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** The account of an identity, whose claims of the last sign-in are replaced. */
  async signIn(project: Project, identity: ProviderIdentity, now: Date): Promise<Credentials | null> {
    const { provider, issuer, subject, data } = identity;
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:sign-in-identity',
      text: `with i as (
          update auth.identities set data = $4, last_sign_in_at = $5, updated_at = $5
          where provider = $1 and issuer = $2 and subject = $3 returning user_id)
        select ${ACCOUNT_COLUMNS}, u.encrypted_password from i join auth.users u on u.id = i.user_id`,
      values: [provider, issuer, subject, JSON.stringify(data), now],
    });
    return rows[0] ? toCredentials(rows[0]) : null;
  }

  /** Creates an account with its first identity. @returns false if the address or the identity was taken in the meantime */
  async create(
    project: Project,
    account: NewAccount,
    identity: ProviderIdentity,
    audit: AuditEntry,
  ): Promise<boolean> {
    const statements = [accountInsertion(account, audit), insertion(account.id, identity, audit.now)];
    try {
      await this.rls.systemBatch(project.database, REASON, statements);
      return true;
    } catch (error) {
      if (isTakenAddress(error) || isTakenIdentity(error)) return false;
      throw error;
    }
  }

  /** The account of an address, regardless of who created it. */
  async findByEmail(
    project: Project,
    emailKey: string,
  ): Promise<{ readonly id: string; readonly isProved: boolean } | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:account-of-address',
      text: 'select id, email_verified_at is not null as is_proved from auth.users where email_key = $1',
      values: [emailKey],
    });
    if (!rows[0]) return null;
    const account = new RecordReader('auth.users', rows[0]);
    return { id: account.uuid('id'), isProved: account.boolean('is_proved') };
  }

  /** @param audit an entry whose user is the account */
  async link(
    project: Project,
    userId: string,
    target: LinkTarget,
    identity: ProviderIdentity,
    audit: AuditEntry,
  ): Promise<LinkOutcome> {
    const { provider, issuer, subject, data } = identity;
    const isByAddress = 'emailKey' in target;
    const change = {
      name: isByAddress ? 'auth:link-proved-identity' : 'auth:link-identity',
      steps: {
        u: `select u.id, u.app_data, u.is_anonymous from auth.users u where u.id = $1 and ${isNotBanned('$7')} and ${
          isByAddress
            ? 'u.email_key = $8 and u.email_verified_at is not null'
            : `exists (select from auth.sessions s where s.id = $8 and s.user_id = u.id and ${isLive('$7')})`
        } and (select count(*) from auth.identities o where o.user_id = u.id) < ${MAX_IDENTITIES}`,
        i: `insert into auth.identities (id, user_id, provider, issuer, subject, data, last_sign_in_at, created_at, updated_at)
          select $2, u.id, $3, $4, $5, $6, $7, $7, $7 from u
          on conflict (provider, issuer, subject) do nothing returning user_id as id`,
        changed: `update auth.users c set updated_at = $7, app_data = ${withProvider('c', '$3')}
          from i where c.id = i.id`,
      },
      audited: 'i',
      query: 'select exists (select from u) as is_live, exists (select from i) as is_linked',
      values: [
        userId,
        randomUUID(),
        provider,
        issuer,
        subject,
        JSON.stringify(data),
        audit.now,
        isByAddress ? target.emailKey : target.sessionId,
      ],
    } as const;
    const [, result] = await this.rls.systemBatch(project.database, SESSION_REASON, [
      lockAccount(userId),
      withAudit(change, audit),
    ]);
    const outcome = new RecordReader('auth.identities', result?.rows[0]);
    if (!outcome.boolean('is_live')) return 'refused';
    return outcome.boolean('is_linked') ? 'linked' : 'taken';
  }

  /** Gives an anonymous user the address of an identity. Fails with 23505 on users_email_key if it is taken. */
  async adoptAddress(
    project: Project,
    userId: string,
    { email, isEmailVerified, name }: ProviderIdentity,
    now: Date,
  ): Promise<void> {
    await this.rls.systemQuery(project.database, SESSION_REASON, {
      name: 'auth:adopt-identity-address',
      text: `update auth.users u set email = $2, email_key = $3, is_anonymous = false, updated_at = $4,
          email_verified_at = case when $5 then $4::timestamptz end, name = coalesce(nullif(u.name, ''), $6)
        where u.id = $1 and u.is_anonymous`,
      values: [userId, email?.address, email?.key, now, isEmailVerified, name ?? ''],
    });
  }

  /** Replaces the data that the directory gave about a user before. */
  async replaceClaims(project: Project, userId: string, claims: JsonObject, now: Date): Promise<void> {
    await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:replace-directory-claims',
      text: `update auth.users u set updated_at = $3,
          app_data = u.app_data || pg_catalog.jsonb_build_object('custom_claims', $2::jsonb)
        where u.id = $1 and u.app_data -> 'custom_claims' is distinct from $2::jsonb`,
      values: [userId, JSON.stringify(claims), now],
    });
  }

  /** @param id the id of an identity, or the account's own id, which stands for its address and password */
  async unlink(
    project: Project,
    { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
    id: string,
    audit: AuditEntry,
  ): Promise<UnlinkOutcome> {
    const change = {
      name: 'auth:unlink-identity',
      steps: {
        u: `select u.id, ${HAS_EMAIL} as has_email from auth.users u where u.id = $1 and exists (
          select from auth.sessions s where s.id = $2 and s.user_id = u.id and ${isLive('$3')})`,
        one: `select i.id, i.provider from auth.identities i join u on u.id = i.user_id where i.id = $4
          union all select u.id, 'email' from u where u.id = $4 and u.has_email`,
        others: `select i.provider from auth.identities i join u on u.id = i.user_id where i.id <> $4
          union all select 'email' from u where u.id <> $4 and u.has_email`,
        may: 'select one.id, one.provider, u.id as user_id from one, u where exists (select from others)',
        gone: `delete from auth.identities i using may where i.id = may.id`,
        changed: `update auth.users c set updated_at = $3,
            encrypted_password = case when may.provider = 'email' then null else c.encrypted_password end,
            app_data = c.app_data || pg_catalog.jsonb_build_object(
              'provider', (select provider from others order by provider = 'email' desc, provider limit 1),
              'providers', (select pg_catalog.jsonb_agg(distinct provider) from others))
          from may where c.id = may.user_id returning c.id`,
      },
      audited: 'changed',
      query: `select exists (select from u) as is_live, exists (select from one) as is_known,
        exists (select from may) as is_unlinked`,
      values: [userId, sessionId, audit.now, id],
    } as const;
    const [, result] = await this.rls.systemBatch(project.database, SESSION_REASON, [
      lockAccount(userId),
      withAudit(change, audit),
    ]);
    const outcome = new RecordReader('auth.identities', result?.rows[0]);
    if (!outcome.boolean('is_live')) return 'refused';
    if (!outcome.boolean('is_known')) return 'unknown';
    return outcome.boolean('is_unlinked') ? 'unlinked' : 'last';
  }

  /** The state of a sign-in works once. @returns false if it was used before */
  async useState(project: Project, id: string, expiresAt: Date, now: Date): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:use-state',
      text: `with old as (delete from auth.used_states where expires_at < $3)
        insert into auth.used_states (id, expires_at) values ($1, $2) on conflict do nothing returning 1`,
      values: [id, expiresAt, now],
    });
    return rows.length === 1;
  }
}

function insertion(userId: string, identity: ProviderIdentity, now: Date): Statement {
  const { provider, issuer, subject, data } = identity;
  return {
    name: 'auth:insert-identity',
    text: `insert into auth.identities (id, user_id, provider, issuer, subject, data, last_sign_in_at, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $7, $7)`,
    values: [randomUUID(), userId, provider, issuer, subject, JSON.stringify(data), now],
  };
}

/** SQL: the providers in app_data of the account `u`; accounts without a list have their address only. */
const providersIn = (alias: string): string => `case
  when pg_catalog.jsonb_typeof(${alias}.app_data->'providers') = 'array' then ${alias}.app_data->'providers'
  when ${alias}.is_anonymous then '[]' else '["email"]' end`;

const HAS_EMAIL = `(not u.is_anonymous and (${providersIn('u')}) ? 'email')`;

/** SQL: app_data with another provider. */
const withProvider = (
  alias: string,
  provider: string,
): string => `${alias}.app_data || pg_catalog.jsonb_build_object(
  'provider', coalesce(${alias}.app_data->>'provider', case when ${alias}.is_anonymous then ${provider}::text else 'email' end),
  'providers', (select pg_catalog.jsonb_agg(distinct p.name) from (
    select pg_catalog.jsonb_array_elements_text(${providersIn(alias)}) as name union select ${provider}::text) p))`;

const isTakenIdentity = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  error.code === UNIQUE_VIOLATION &&
  error.constraint === 'identities_provider_issuer_subject_key';
