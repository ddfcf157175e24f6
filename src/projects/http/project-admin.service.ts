/** Project administration, in the terms of the admin API. */
import { Injectable } from '@nestjs/common';
import { isSocketDirectory } from '../../pg-pipeline';
import { answerOf } from '../../http/model/fields';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { OwnerDatabase } from '../owner-database';
import { projectKey, ANON_ROLE, SERVICE_ROLE } from '../project-keys';
import { Project, ProjectSecret } from '../project';
import { ProjectEntity } from '../project.entity';
import { NewProject } from '../project-factory';
import { ProjectListQuery } from '../project.repository';
import { ProjectRegistry } from '../project-registry.service';
import { withoutSecrets } from '../setting-secrets';
import { effectiveSettings } from '../project-settings';
import { ProjectChange } from '../project-entries';
import { KeyRotationService } from '../key-rotation.service';
import { ProjectPauses } from '../project-pauses.service';
import { ProjectsService } from '../projects.service';
import {
  CreatedProject,
  DatabaseAccess,
  DeletedProject,
  ProjectKeys,
  ProjectKeysWithSecret,
  ProjectResponse,
} from './dto/project-responses';

@Injectable()
export class ProjectAdminService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly rotation: KeyRotationService,
    private readonly pauses: ProjectPauses,
    private readonly registry: ProjectRegistry,
    private readonly owner: OwnerDatabase,
    private readonly audit: AuditLogRepository,
    private readonly disk: DiskReserve,
  ) {}

  async create(input: NewProject, actor: Actor): Promise<CreatedProject> {
    if (input.databaseUrl === undefined) await this.disk.assertRoom();
    const project = await this.projects.create(input, actor);
    return { ...toRecord(await this.projects.get(project.id)), ...keysOf(project, project.secrets[0]) };
  }

  async list(query: ProjectListQuery): Promise<{ records: ProjectResponse[]; total: number }> {
    const { projects, total } = await this.projects.list(query);
    return { records: projects.map(toRecord), total };
  }

  async get(id: string): Promise<ProjectResponse> {
    return toRecord(await this.projects.get(id));
  }

  async updateProject(id: string, change: ProjectChange, actor: Actor): Promise<ProjectResponse> {
    return toRecord(await this.projects.updateProject(id, change, actor));
  }

  async pause(id: string, actor: Actor): Promise<ProjectResponse> {
    return toRecord(await this.pauses.pause(id, actor));
  }

  async resume(id: string, actor: Actor): Promise<ProjectResponse> {
    return toRecord(await this.pauses.resume(id, actor));
  }

  async remove(id: string, actor: Actor): Promise<DeletedProject> {
    return { id, deleted: (await this.projects.remove(id, actor)) === 'deleted' };
  }

  /** Reads of secrets are recorded in the audit log, as changes are. */
  async keys(id: string, actor: Actor): Promise<ProjectKeysWithSecret> {
    const project = await this.registry.get(id);
    await this.audit.write({ action: 'project.keys.read', actor, projectId: id });
    return keysWithSecret(project, project.secrets[0]);
  }

  async rotateKeys(
    id: string,
    { grace, onlySigning, endsNamed }: { grace: number; onlySigning: boolean; endsNamed: boolean },
    actor: Actor,
  ): Promise<ProjectKeysWithSecret> {
    if (onlySigning) await this.rotation.rotateSigningKeys(id, grace, actor);
    else await this.rotation.rotate(id, grace, actor, endsNamed);
    const project = await this.registry.get(id);
    return keysWithSecret(project, project.secrets[0]);
  }

  async database(id: string, actor: Actor): Promise<DatabaseAccess> {
    const project = await this.projects.get(id);
    // The owner can change the role's password, so the password in the response might not work.
    await this.owner.repairAccess(project);
    await this.audit.write({ action: 'project.database.read', actor, projectId: id });
    const { publicHost: host, port, ssl } = this.projects.serverOf(project);
    const { password } = this.owner.connectionOf(project);
    const isSocket = isSocketDirectory(host);
    const address = host.includes(':') ? `[${host}]` : host;
    // A URL with a user needs a host; the parameter overrides it.
    const url = new URL(`postgres://${isSocket ? 'localhost' : address}:${port}/${project.databaseName}`);
    url.username = project.ownerRole;
    url.password = password;
    if (isSocket) url.searchParams.set('host', host);
    if (ssl) url.searchParams.set('sslmode', 'require');
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
}

type Named = Pick<Project, 'id' | 'slug'>;

function keysOf(project: Named, secret: ProjectSecret): ProjectKeys {
  return {
    anon_key: projectKey(project, secret, ANON_ROLE),
    service_role_key: projectKey(project, secret, SERVICE_ROLE),
  };
}

function keysWithSecret(project: Project, secret: ProjectSecret): ProjectKeysWithSecret {
  return {
    ...keysOf(project, secret),
    jwt_secret: secret.secret,
    signing_keys: project.signingKeys.map(({ kid, algorithm, status, createdAt, expiresAt }) => ({
      kid,
      algorithm,
      status,
      created_at: new Date(createdAt),
      expires_at: expiresAt === null ? null : new Date(expiresAt),
    })),
  };
}

function toRecord(project: ProjectEntity): ProjectResponse {
  const settings = withoutSecrets(effectiveSettings(project.settings));
  return answerOf(ProjectResponse, { ...project, settings });
}
