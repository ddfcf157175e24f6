/** Rows of auth.providers. */
import { Injectable } from '@nestjs/common';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { type AuditEntry, withAudit } from '../audit/audit-entry';
import { Provider, PROVIDER_COLUMNS, toProvider } from './provider';

const REASON = 'auth.providers is closed to the roles of callers';
/** Providers of a project. */
export const MAX_PROVIDERS = 50;

@Injectable()
export class ProviderRepository {
  constructor(private readonly rls: RlsTransaction) {}

  async list(project: Project): Promise<Provider[]> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:list-providers',
      text: `select ${PROVIDER_COLUMNS} from auth.providers p order by p.name limit ${MAX_PROVIDERS}`,
      values: [],
    });
    return rows.map(toProvider);
  }

  async find(project: Project, name: string): Promise<Provider | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:find-provider',
      text: `select ${PROVIDER_COLUMNS} from auth.providers p where p.name = $1`,
      values: [name],
    });
    return rows[0] ? toProvider(rows[0]) : null;
  }

  /** @returns null if the project has MAX_PROVIDERS other providers */
  async save(
    project: Project,
    { name, preset, enabled, settings, sealedSecret }: Omit<Provider, 'createdAt' | 'updatedAt'>,
    audit: AuditEntry,
  ): Promise<Provider | null> {
    const change = {
      name: 'auth:save-provider',
      steps: {
        p: `insert into auth.providers as p (name, preset, enabled, settings, sealed_secret, created_at, updated_at)
          select $1, $2, $3, $4, $5, $6, $6
          where (select count(*) from auth.providers o where o.name <> $1) < ${MAX_PROVIDERS}
          on conflict (name) do update set preset = excluded.preset, enabled = excluded.enabled,
            settings = excluded.settings, sealed_secret = excluded.sealed_secret, updated_at = excluded.updated_at
          returning p.*`,
        happened_to: 'select null::uuid as id from p',
      },
      audited: 'happened_to',
      query: `select ${PROVIDER_COLUMNS} from p`,
      values: [name, preset, enabled, JSON.stringify(settings), sealedSecret, audit.now],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, withAudit(change, audit));
    return rows[0] ? toProvider(rows[0]) : null;
  }

  /** @returns false if there is no such provider */
  async remove(project: Project, name: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      name: 'auth:remove-provider',
      steps: { gone: 'delete from auth.providers where name = $1 returning null::uuid as id' },
      audited: 'gone',
      query: 'select from gone',
      values: [name],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, withAudit(change, audit));
    return rows.length > 0;
  }
}
