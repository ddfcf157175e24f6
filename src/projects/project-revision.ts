/** Names the state of a project, for caches of what was made from it. */
import { createHash } from 'node:crypto';
import type { ProjectEntity, ProjectSecretEntity } from './project.entity';

/** Everything of the two rows that a Project is made of. `updated_at` is not: it changes when nothing else does. */
type Facts = Pick<
  ProjectEntity,
  | 'id'
  | 'slug'
  | 'name'
  | 'plan'
  | 'settings'
  | 'serverUrl'
  | 'databaseName'
  | 'loginRole'
  | 'loginPassword'
  | 'polled'
>;

/** Equal for equal rows, in every process: a hash of what they hold. Secrets are hashed as they are stored, encrypted. */
export function revisionOf(project: Facts, secrets: readonly ProjectSecretEntity[]): string {
  const { id, slug, name, plan, settings, polled } = project;
  const { serverUrl, databaseName, loginRole, loginPassword } = project;
  const signing = secrets
    .map(({ kid, secret, storageSecret, createdAt, expiresAt }) =>
      JSON.stringify([kid, base64(secret), base64(storageSecret), createdAt, expiresAt]),
    )
    .sort();
  const facts = [id, slug, name, plan, settings, polled, databaseName, loginRole];
  const sealed = [serverUrl && base64(serverUrl), base64(loginPassword)];
  return createHash('sha256')
    .update(JSON.stringify([facts, sealed, signing]))
    .digest('base64url');
}

const base64 = (bytes: Buffer): string => bytes.toString('base64');
