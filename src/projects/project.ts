/** A project as the request path uses it: immutable, cached, with its secrets decrypted. */
import type { KeyObject } from 'node:crypto';
import { ProjectDatabase } from '../database/pools/project-database';
import { Plan } from './plans';
import { ProjectSettings } from './project-settings';
import type { ApiKey } from './api-keys';
import type { S3Key } from './s3-keys';
import type { SigningKey } from './signing-keys';

/** The signing keys of a project, from one rotation to the next. */
export interface ProjectSecret {
  /** Identifies the secret in a token's header (RFC 7515, 4.1.4). */
  readonly kid: string;
  /** Signs tokens. */
  readonly secret: string;
  /** The secret as a key object: jsonwebtoken would try to parse text as PEM first, which costs milliseconds. */
  readonly key: KeyObject;
  /** Signs storage addresses. */
  readonly storageSecret: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; null for the current secret, which signs. */
  readonly expiresAt: number | null;
}

/**
 * False once the grace period after a rotation is over.
 * @param now milliseconds since the epoch
 */
export function isSecretValid(secret: Pick<ProjectSecret, 'expiresAt'>, now: number): boolean {
  return secret.expiresAt === null || secret.expiresAt > now;
}

export interface Project {
  readonly id: string;
  /**
   * Changes if and only if another field here changes. Caches of values derived from a project use it as their key.
   * Reading an unchanged project again gives the same revision, and no two projects share one.
   */
  readonly revision: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: Plan;
  readonly settings: ProjectSettings;
  /** The first one is the current one. */
  readonly secrets: readonly [ProjectSecret, ...ProjectSecret[]];
  /** Key pairs that sign users' tokens; empty if the secret signs them. */
  readonly signingKeys: readonly SigningKey[];
  /** Key pairs that sign requests of the S3 protocol. */
  readonly s3Keys: readonly S3Key[];
  /** Keys in addition to the two that the secrets sign. */
  readonly apiKeys: readonly ApiKey[];
  /** Keys of values in the project's database are derived from it: refresh tokens, second factors. */
  readonly dataSecret: string;
  readonly database: ProjectDatabase;
  /** True if the database has no event triggers for DDL: RelationAdopter then polls for new tables once a second. */
  readonly polled: boolean;
}
