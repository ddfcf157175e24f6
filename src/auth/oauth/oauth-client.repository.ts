/** Rows of auth.oauth_clients. */
import { Injectable } from '@nestjs/common';
import { UUID } from '../../common/text/uuid';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import type { Statement } from '../../database/statement';
import type { Project } from '../../projects/project';
import { type AuditEntry, withAudit } from '../audit/audit-entry';
import { CLIENT_COLUMNS, type OAuthClient, toClient } from './oauth-client';

const REASON = 'auth.oauth_clients is closed to the roles of callers';
/** Maximum number of clients of a project: this many that administrators made, and this many that registered themselves. */
export const MAX_CLIENTS = 500;
/**
 * Maximum number of clients that registered themselves and that no user has granted anything. A further client replaces the
 * oldest.
 */
const MAX_UNUSED = 100;

@Injectable()
export class OAuthClientRepository {
  constructor(private readonly rls: RlsTransaction) {}

  async list(
    project: Project,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ total: number; clients: OAuthClient[] }> {
    const [counted, page] = await this.rls.systemBatch(project.database, REASON, [
      { name: 'auth:count-oauth-clients', text: 'select count(*)::float8 as total from auth.oauth_clients' },
      {
        name: 'auth:list-oauth-clients',
        text: `select ${CLIENT_COLUMNS} from auth.oauth_clients c order by c.created_at desc, c.id limit $1 offset $2`,
        values: [limit, offset],
      },
    ]);
    const total = new RecordReader('auth.oauth_clients', counted?.rows[0]);
    return {
      total: total.integer('total', 0, Number.MAX_SAFE_INTEGER),
      clients: (page?.rows ?? []).map(toClient),
    };
  }

  async find(project: Project, id: string): Promise<OAuthClient | null> {
    if (!UUID.test(id)) return null;
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:find-oauth-client',
      text: `select ${CLIENT_COLUMNS} from auth.oauth_clients c where c.id = $1`,
      values: [id],
    });
    return rows[0] ? toClient(rows[0]) : null;
  }

  /** @param audit null for a client that registers itself: anybody may @returns false if the project has MAX_CLIENTS of the kind */
  async insert(project: Project, client: OAuthClient, audit: AuditEntry | null): Promise<boolean> {
    const change = {
      name: audit ? 'auth:insert-oauth-client' : 'auth:register-oauth-client',
      steps: {
        c: `insert into auth.oauth_clients (id, name, secret_hash, auth_method, registration, redirect_uris, grant_types,
            client_uri, logo_uri, created_at, updated_at)
          select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10
          where (select count(*) from auth.oauth_clients o where o.registration = $5) < ${MAX_CLIENTS} returning id`,
        happened_to: 'select null::uuid as id from c',
      },
      audited: 'happened_to',
      query: 'select id from c',
      values: valuesOf(client),
    } as const;
    const insertion = audit ? withAudit(change, audit) : withoutAudit(change);
    const results = await this.rls.systemBatch(project.database, REASON, [
      ...(audit ? [] : [DROP_UNUSED]),
      insertion,
    ]);
    return results.at(-1)?.rows.length === 1;
  }

  /** @returns false if there is no such client */
  async updateClient(project: Project, client: OAuthClient, audit: AuditEntry): Promise<boolean> {
    const change = {
      name: 'auth:update-oauth-client',
      steps: {
        c: `update auth.oauth_clients set name = $2, secret_hash = $3, auth_method = $4, registration = $5,
          redirect_uris = $6, grant_types = $7, client_uri = $8, logo_uri = $9, updated_at = $10
          where id = $1 returning null::uuid as id`,
      },
      audited: 'c',
      query: 'select from c',
      values: valuesOf(client),
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, withAudit(change, audit));
    return rows.length === 1;
  }

  /** Removes the client's sessions, codes and grants as well. @returns false if there is no such client */
  async remove(project: Project, id: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      name: 'auth:remove-oauth-client',
      steps: { gone: 'delete from auth.oauth_clients where id = $1 returning null::uuid as id' },
      audited: 'gone',
      query: 'select from gone',
      values: [id],
    } as const;
    const statement = { ...withAudit(change, audit), endsSessions: true };
    const { rows } = await this.rls.systemQuery(project.database, REASON, statement);
    return rows.length === 1;
  }
}

/** Deletes unused clients so that there is room for one more: a flood of registrations replaces only its own clients. */
const DROP_UNUSED: Statement = {
  name: 'auth:drop-unused-oauth-clients',
  text: `delete from auth.oauth_clients where id in (
    select c.id from auth.oauth_clients c where c.registration = 'dynamic'
      and not exists (select from auth.oauth_consents g where g.client_id = c.id)
    order by c.created_at desc, c.id offset ${MAX_UNUSED - 1})`,
};

const withoutAudit = ({
  name,
  steps,
  query,
  values,
}: {
  readonly name: string;
  readonly steps: { readonly c: string };
  readonly query: string;
  readonly values: unknown[];
}): Statement => ({ name, text: `with c as (${steps.c}) ${query}`, values });

const valuesOf = (client: OAuthClient): unknown[] => [
  client.id,
  client.name,
  client.secretHash,
  client.authMethod,
  client.registration,
  client.redirectUris,
  client.grantTypes,
  client.uri,
  client.logoUri,
  client.updatedAt,
];
