/** What an administrator does with projects, in the words of the admin API. */
import { Injectable } from '@nestjs/common';
import { OwnerDatabase } from '../projects/owner-database';
import { projectKey, ANON_ROLE, SERVICE_ROLE } from '../projects/project-keys';
import { Project } from '../projects/project';
import { ProjectEntity } from '../projects/project.entity';
import { ProjectRegistry } from '../projects/project-registry.service';
import { effectiveSettings } from '../projects/project-settings';
import { projectNotFound } from '../projects/projects.errors';
import { NewProject, ProjectChange, ProjectsService } from '../projects/projects.service';

@Injectable()
export class ProjectAdminService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly registry: ProjectRegistry,
    private readonly owner: OwnerDatabase,
  ) {}

  async create(input: NewProject): Promise<object> {
    const project = await this.projects.create(input);
    return { ...toRecord(await this.projects.get(project.id)), ...keysOf(project) };
  }

  async list(): Promise<object[]> {
    return (await this.projects.list()).map(toRecord);
  }

  async get(id: string): Promise<object> {
    return toRecord(await this.projects.get(id));
  }

  async update(id: string, change: ProjectChange): Promise<object> {
    return toRecord(await this.projects.update(id, change));
  }

  async remove(id: string): Promise<object> {
    await this.projects.remove(id);
    return { id, deleted: true };
  }

  async keys(id: string): Promise<object> {
    const project = await this.registry.findById(id);
    if (!project) throw projectNotFound();
    return { ...keysOf(project), jwt_secret: project.secrets[0].secret };
  }

  async rotateKeys(id: string, graceSeconds: number): Promise<object> {
    const project = await this.projects.rotateKeys(id, graceSeconds);
    return { ...keysOf(project), jwt_secret: project.secrets[0].secret };
  }

  async database(id: string): Promise<object> {
    const project = await this.projects.get(id);
    const { host, port, password } = this.owner.connectionOf(project);
    const url = new URL(`postgres://${host}:${port}/${project.databaseName}`);
    url.username = project.ownerRole;
    url.password = password;
    return {
      host,
      port,
      database: project.databaseName,
      owner_role: project.ownerRole,
      owner_password: password,
      owner_url: url.href,
      login_role: project.loginRole,
    };
  }

  /** One simple query: PostgreSQL runs its statements as one transaction; the rows are those of the last one. */
  async sql(id: string, query: string): Promise<object> {
    const project = await this.projects.get(id);
    const result = await this.owner.use(project, 'the administrator runs SQL as the owner', (client) =>
      client.query(query),
    );
    const last = Array.isArray(result) ? (result as (typeof result)[]).at(-1) : result;
    return { rows: last?.rows ?? [], row_count: last?.rowCount ?? null, command: last?.command ?? null };
  }

  async tables(id: string): Promise<object[]> {
    const project = await this.projects.get(id);
    const { rows } = await this.owner.use(project, 'the administrator lists tables', (client) =>
      client.query<{
        schema: string;
        name: string;
        rls_enabled: boolean;
        rls_forced: boolean;
        policies: number;
      }>(`
        select n.nspname as schema, c.relname as name, c.relrowsecurity as rls_enabled,
          c.relforcerowsecurity as rls_forced,
          (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema', 'auth', 'extensions')
          and n.nspname !~ '^pg_' order by 1, 2`),
    );
    return rows;
  }
}

function keysOf(project: Project): { anon_key: string; service_role_key: string } {
  return {
    anon_key: projectKey(project, project.secrets[0], ANON_ROLE),
    service_role_key: projectKey(project, project.secrets[0], SERVICE_ROLE),
  };
}

function toRecord(project: ProjectEntity): object {
  return {
    id: project.id,
    slug: project.slug,
    name: project.name,
    plan: project.plan,
    settings: effectiveSettings(project.settings),
    created_at: project.createdAt,
    updated_at: project.updatedAt,
  };
}
