/** Identifies the state of a project, as a key for caches. */
import { createHash } from 'node:crypto';
import type { ProjectEntity, ProjectSecretEntity } from './project.entity';

/** The columns that make up a Project. Not `updated_at`, which a migration changes without changing the project. */
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
  | 'dataSecret'
  | 'signingKeys'
  | 's3Keys'
  | 'apiKeys'
  | 'polled'
  | 'pausedAt'
>;

/**
 * A hash of the rows, so that equal rows have one revision in every process. Secrets are hashed in their
 * encrypted form.
 */
export function revisionOf(project: Facts, secrets: readonly ProjectSecretEntity[]): string {
  const { id, slug, name, plan, settings, polled, pausedAt } = project;
  const { serverUrl, databaseName, loginRole, loginPassword, dataSecret, signingKeys, s3Keys, apiKeys } =
    project;
  const signing = secrets
    .map(({ kid, secret, storageSecret, createdAt, expiresAt }) =>
      JSON.stringify([kid, base64(secret), base64(storageSecret), createdAt, expiresAt]),
    )
    .sort();
  const facts = [id, slug, name, plan, settings, polled, pausedAt, databaseName, loginRole];
  const sealed = [serverUrl, loginPassword, dataSecret, signingKeys, s3Keys, apiKeys].map(
    (bytes) => bytes && base64(bytes),
  );
  return createHash('sha256')
    .update(JSON.stringify([facts, sealed, signing]))
    .digest('base64url');
}

const base64 = (bytes: Buffer): string => bytes.toString('base64');
