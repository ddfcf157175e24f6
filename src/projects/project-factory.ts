/** Creates the rows of a new project with their names, passwords and secrets. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { PLATFORM_SERVER } from '../database/pools/project-database';
import { randomId, randomSecret } from '../infra/crypto/random';
import { Plan } from './plans';
import { withSealedSecrets } from './setting-secrets';
import { ProjectSecret } from './project';
import { ProjectEntity, ProjectSecretEntity } from './project.entity';
import { ProjectSecrets } from './project-secrets';
import {
  assertTokensTellApart,
  effectiveSettings,
  mergeSettings,
  ProjectSettingsInput,
} from './project-settings';
import { invalidSlug, nameWithoutSlug } from './projects.errors';
import { firstSigningKeys, NEW_PROJECT_ALGORITHM, type StoredSigningKey } from './signing-keys';

const SLUG = /^[a-z][a-z0-9-]{0,38}[a-z0-9]$/;

export interface NewProject {
  readonly name: string;
  /** Default: derived from the name. Null: derived with a suffix if the slug is taken, or random. */
  readonly slug?: string | null;
  readonly plan?: Plan;
  readonly settings?: ProjectSettingsInput;
  /** Admin URL of another PostgreSQL server for the project's database. */
  readonly databaseUrl?: string;
  /** Name of one of the installation's servers; default: the one with the most room. Not with `databaseUrl`. */
  readonly server?: string;
}

/** The password and signing secrets of a backup. */
export interface CopiedKeys {
  readonly ownerPassword: string;
  readonly secrets: readonly Omit<ProjectSecret, 'key'>[];
  readonly signingKeys: readonly StoredSigningKey[];
}

/** A project as a backup describes it. Times are in milliseconds since the epoch. */
export interface ProjectCopy {
  /** Null for a new id. */
  readonly id: string | null;
  /** Null for new keys and a new password; always null with a new id. */
  readonly keys: CopiedKeys | null;
  readonly slug: string;
  readonly name: string;
  readonly plan: Plan;
  readonly createdAt: number;
  readonly schemaVersion: string;
  readonly settings: ProjectSettingsInput;
  /** The same as Project.dataSecret. */
  readonly dataSecret: string;
}

@Injectable()
export class ProjectFactory {
  constructor(
    private readonly secrets: ProjectSecrets,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 400 for a malformed slug, or a name from which none can be derived */
  newProject(input: NewProject): ProjectEntity {
    const id = randomId();
    const dataSecret = randomSecret();
    return Object.assign(new ProjectEntity(), {
      id,
      slug: slugFor(input),
      name: input.name,
      plan: input.plan ?? 'free',
      status: 'provisioning' as const,
      settings: settingsOfNew(input.settings ?? {}, dataSecret),
      serverUrl: input.databaseUrl ? this.secrets.seal('server-url', id, input.databaseUrl) : null,
      server: input.server ?? (input.databaseUrl ? null : PLATFORM_SERVER),
      ...namesOf(id),
      ownerPassword: this.secrets.seal('owner-password', id, randomSecret()),
      loginPassword: this.secrets.seal('login-password', id, randomSecret()),
      dataSecret: this.secrets.seal('data-secret', id, dataSecret),
      signingKeys: null,
      s3Keys: null,
      schemaVersion: '',
      polled: false,
      pausedAt: null,
    });
  }

  /** @throws AppError 400 for a malformed slug */
  copyOf(copy: ProjectCopy): { project: ProjectEntity; secrets: ProjectSecretEntity[] } {
    const { slug, name, plan, settings, schemaVersion } = copy;
    const project = this.newProject({ slug, name, plan });
    const createdAt = new Date(copy.createdAt);
    const id = copy.id ?? project.id;
    const dataSecret = this.secrets.seal('data-secret', id, copy.dataSecret);
    Object.assign(project, { settings, schemaVersion, createdAt, dataSecret });
    Object.assign(project, {
      id,
      ...namesOf(id),
      ownerPassword: this.secrets.seal('owner-password', id, copy.keys?.ownerPassword ?? randomSecret()),
      loginPassword: this.secrets.seal('login-password', id, randomSecret()),
    });
    const secrets = copy.keys?.secrets.map((secret) => this.secretOf(id, secret));
    return { project, secrets: secrets ?? [this.newSecret(id)] };
  }

  /** Sets the keys that sign users' tokens: those of a backup, or new ones. */
  async addSigningKeys(project: ProjectEntity, given?: readonly StoredSigningKey[]): Promise<void> {
    const algorithm = effectiveSettings(project.settings).jwt_algorithm;
    const keys = given ?? (await firstSigningKeys(algorithm, this.clock.now()));
    project.signingKeys = this.secrets.sealList('signing-keys', project.id, keys);
  }

  newSecret(projectId: string): ProjectSecretEntity {
    return Object.assign(new ProjectSecretEntity(), {
      projectId,
      kid: randomId(),
      secret: this.secrets.seal('jwt-secret', projectId, randomSecret()),
      storageSecret: this.secrets.seal('storage-secret', projectId, randomSecret()),
      createdAt: this.clock.date(),
      expiresAt: null,
    });
  }

  private secretOf(projectId: string, given: Omit<ProjectSecret, 'key'>): ProjectSecretEntity {
    return Object.assign(new ProjectSecretEntity(), {
      projectId,
      kid: given.kid,
      secret: this.secrets.seal('jwt-secret', projectId, given.secret),
      storageSecret: this.secrets.seal('storage-secret', projectId, given.storageSecret),
      createdAt: new Date(given.createdAt),
      expiresAt: given.expiresAt === null ? null : new Date(given.expiresAt),
    });
  }
}

function settingsOfNew(given: ProjectSettingsInput, dataSecret: string): ProjectSettingsInput {
  const sealed = withSealedSecrets(given, {}, dataSecret);
  const settings = mergeSettings({ jwt_algorithm: NEW_PROJECT_ALGORITHM }, sealed);
  assertTokensTellApart(effectiveSettings(settings));
  return settings;
}

export function namesOf(id: string): Pick<ProjectEntity, 'databaseName' | 'ownerRole' | 'loginRole'> {
  return {
    databaseName: `plinth_${id}`,
    ownerRole: `plinth_${id}_owner`,
    loginRole: `plinth_${id}_login`,
  };
}

/** Adds random characters to a slug that is taken. */
export function varySlug(slug: string): string {
  return `${slug.slice(0, 34)}-${randomId().slice(0, 5)}`;
}

/** @throws AppError 400 for a malformed slug */
export function assertSlug(slug: string): void {
  if (!SLUG.test(slug)) throw invalidSlug();
}

/** The given slug, one derived from the name, or a random one if the caller accepts that (null). */
function slugFor({ name, slug }: NewProject): string {
  if (typeof slug === 'string') assertSlug(slug);
  const wanted = slug ?? slugOf(name) ?? (slug === null ? `project-${randomId().slice(0, 8)}` : null);
  if (wanted === null) throw nameWithoutSlug();
  return wanted;
}

/**
 * `Acme GmbH & Co.` to `acme-gmbh-co`: 2 to 40 lower-case letters, digits and hyphens, beginning with a letter;
 * or null.
 */
function slugOf(name: string): string | null {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return SLUG.test(plain) ? plain : null;
}
