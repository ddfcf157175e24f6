/** Rows of auth.saml_providers, auth.saml_domains and auth.saml_requests. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import type { Project } from '../../projects/project';
import { type AuditEntry, withAudit } from '../audit/audit-entry';
import { samlProviderTaken } from '../auth.errors';
import {
  PROVIDER_COLUMNS,
  type SamlProvider,
  type SamlRequest,
  toSamlProvider,
  toSamlRequest,
} from './saml-provider';

const REASON = 'auth.saml_providers is closed to the roles of callers';
/** Maximum number of providers of a project. */
export const MAX_SAML_PROVIDERS = 100;

@Injectable()
export class SamlProviderRepository {
  constructor(private readonly rls: RlsTransaction) {}

  async list(project: Project): Promise<SamlProvider[]> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:list-saml-providers',
      text: `select ${PROVIDER_COLUMNS} from auth.saml_providers p order by p.created_at, p.id limit ${MAX_SAML_PROVIDERS}`,
      values: [],
    });
    return rows.map(toSamlProvider);
  }

  /** Whether anybody can sign in with SAML. */
  async isUsed(project: Project): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:uses-saml',
      text: 'select from auth.saml_providers where enabled limit 1',
      values: [],
    });
    return rows.length > 0;
  }

  async find(
    project: Project,
    by: { readonly id: string } | { readonly domain: string },
  ): Promise<SamlProvider | null> {
    const isById = 'id' in by;
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: isById ? 'auth:find-saml-provider' : 'auth:saml-provider-of-domain',
      text: `select ${PROVIDER_COLUMNS} from auth.saml_providers p where p.id = ${
        isById ? '$1' : '(select d.provider_id from auth.saml_domains d where d.domain = $1)'
      }`,
      values: [isById ? by.id : by.domain],
    });
    return rows[0] ? toSamlProvider(rows[0]) : null;
  }

  /**
   * @returns null if the project already has MAX_SAML_PROVIDERS other providers
   * @throws AppError 422 if another provider has the entity or one of the domains
   */
  async save(
    project: Project,
    provider: Omit<SamlProvider, 'createdAt' | 'updatedAt'>,
    audit: AuditEntry,
  ): Promise<SamlProvider | null> {
    const { id, resourceId, enabled, entityId, metadataXml, metadataUrl, metadataAt, mapping } = provider;
    const change = {
      name: 'auth:save-saml-provider',
      steps: {
        p: `insert into auth.saml_providers as p (id, resource_id, enabled, entity_id, metadata_xml, metadata_url, metadata_at,
            attribute_mapping, name_id_format, created_at, updated_at)
          select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10
          where (select count(*) from auth.saml_providers o where o.id <> $1) < ${MAX_SAML_PROVIDERS}
          on conflict (id) do update set resource_id = excluded.resource_id, enabled = excluded.enabled,
            entity_id = excluded.entity_id, metadata_xml = excluded.metadata_xml, metadata_url = excluded.metadata_url,
            metadata_at = excluded.metadata_at, attribute_mapping = excluded.attribute_mapping,
            name_id_format = excluded.name_id_format, updated_at = excluded.updated_at
          returning p.id`,
        happened_to: 'select null::uuid as id from p',
      },
      audited: 'happened_to',
      query: 'select id from p',
      values: [
        id,
        resourceId,
        enabled,
        entityId,
        metadataXml,
        metadataUrl,
        metadataAt,
        JSON.stringify(mapping),
        provider.nameIdFormat,
        audit.now,
      ],
    } as const;
    const results = await this.rls
      .systemBatch(project.database, REASON, [
        withAudit(change, audit),
        { text: 'delete from auth.saml_domains where provider_id = $1', values: [id] },
        {
          text: `insert into auth.saml_domains (domain, provider_id)
            select d, p.id from pg_catalog.unnest($2::text[]) d, auth.saml_providers p where p.id = $1`,
          values: [id, provider.domains],
        },
        { text: `select ${PROVIDER_COLUMNS} from auth.saml_providers p where p.id = $1`, values: [id] },
      ])
      .catch((error: unknown) => {
        throw isTaken(error) ? samlProviderTaken() : error;
      });
    const [row] = results.at(-1)?.rows ?? [];
    return row ? toSamlProvider(row) : null;
  }

  /** Stores the metadata that the provider's address returns now. */
  async replaceMetadata(project: Project, id: string, xml: string, now: Date): Promise<void> {
    await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:replace-saml-metadata',
      text: 'update auth.saml_providers set metadata_xml = $2, metadata_at = $3 where id = $1',
      values: [id, xml, now],
    });
  }

  /** @returns false if there is no such provider */
  async remove(project: Project, id: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      name: 'auth:remove-saml-provider',
      steps: { gone: 'delete from auth.saml_providers where id = $1 returning null::uuid as id' },
      audited: 'gone',
      query: 'select from gone',
      values: [id],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, withAudit(change, audit));
    return rows.length > 0;
  }

  async insertRequest(project: Project, request: SamlRequest, now: Date, expiresAt: Date): Promise<void> {
    const { id, providerId, redirectTo, challenge } = request;
    await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:insert-saml-request',
      text: `with old as (delete from auth.saml_requests where expires_at < $7)
        insert into auth.saml_requests (id, provider_id, redirect_to, code_challenge, code_challenge_method, expires_at)
        values ($1, $2, $3, $4, $5, $6)`,
      values: [id, providerId, redirectTo, challenge.challenge, challenge.method, expiresAt, now],
    });
  }

  async findRequest(project: Project, id: string, now: Date): Promise<SamlRequest | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:find-saml-request',
      text: `select id, provider_id, redirect_to, code_challenge, code_challenge_method from auth.saml_requests
        where id = $1 and expires_at > $2`,
      values: [id, now],
    });
    return rows[0] ? toSamlRequest(rows[0]) : null;
  }

  /** @returns false if another response has answered the request already */
  async spendRequest(project: Project, id: string): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:spend-saml-request',
      text: 'delete from auth.saml_requests where id = $1 returning 1',
      values: [id],
    });
    return rows.length > 0;
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === UNIQUE_VIOLATION && error.schema === 'auth';
