/** What an archive says about its project, for the project that a restore makes. */
import type { ArchivedRoles } from '../../copies/owner-roles';
import type { Plan } from '../../projects/plans';
import type { CopiedKeys, ProjectCopy } from '../../projects/project-factory';
import type { ProjectEntity } from '../../projects/project.entity';
import type { ArchivedSecrets, ArchiveHeader } from './archive-format';
import { validSettings } from './archived-settings';
import type { OpenArchive } from './open-archive';

const NO_ROLES: ArchivedRoles = { roles: [], memberships: [], grants: [], comment: null, named: [] };

/** @param isTaken whether the copy needs another id than the archived one */
export function copyFrom(
  { header: { project }, secrets }: OpenArchive,
  { isTaken, slug, keepKeys }: { isTaken: boolean; slug: string; keepKeys: boolean },
): ProjectCopy {
  return {
    id: isTaken ? null : project.id,
    keys: isTaken || !keepKeys ? null : keysOf(secrets),
    slug,
    name: project.name,
    plan: project.plan as Plan,
    createdAt: Date.parse(project.created_at),
    schemaVersion: project.schema_version,
    settings: validSettings(secrets.settings),
    dataSecret: secrets.data_secret,
  };
}

function keysOf({
  owner_password: ownerPassword,
  secrets,
  signing_keys: pairs = [],
}: ArchivedSecrets): CopiedKeys {
  return {
    ownerPassword,
    signingKeys: pairs,
    secrets: secrets.map(({ kid, secret, ...rest }) => ({
      kid,
      secret,
      storageSecret: rest.storage_secret,
      createdAt: rest.created_at,
      expiresAt: rest.expires_at,
    })),
  };
}

/**
 * The archived roles, without their passwords if the keys of the archive are not kept: the maker of the archive knows the
 * passwords.
 */
export function archivedRoles({ roles = NO_ROLES }: ArchivedSecrets, keepsKeys: boolean): ArchivedRoles {
  return keepsKeys ? roles : { ...roles, roles: roles.roles.map((role) => ({ ...role, password: null })) };
}

/** Names of the archived roles that the project has under others. */
export function rolesOf({ project }: ArchiveHeader, target: ProjectEntity): ReadonlyMap<string, string> {
  if (project.id === target.id) return new Map();
  return new Map([
    [project.owner_role, target.ownerRole],
    [project.login_role, target.loginRole],
  ]);
}
