/** A project as the request path sees it: immutable, cached, with its secrets opened. */
import type { KeyObject } from 'node:crypto';
import { ProjectDatabase } from '../database/pools/project-database';
import { Plan } from './plans';
import { ProjectSettings } from './project-settings';

/** The signing keys of a project, from one rotation to the next. */
export interface ProjectSecret {
  /** Names the secret in a token's header (RFC 7515, 4.1.4). */
  readonly kid: string;
  /** Signs tokens. */
  readonly secret: string;
  /** The secret as a key object: jsonwebtoken would try to parse text as PEM first, which costs milliseconds. */
  readonly key: KeyObject;
  /** Signs storage addresses. */
  readonly storageSecret: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; null: the current one, which signs. */
  readonly expiresAt: number | null;
}

/**
 * False once the grace period after a rotation is over.
 * @param now milliseconds since the epoch
 */
export function isSecretValid(secret: ProjectSecret, now: number): boolean {
  return secret.expiresAt === null || secret.expiresAt > now;
}

export interface Project {
  readonly id: string;
  /**
   * Changes if and only if anything else here does: the key of all caches of values that are made from a project. Reading
   * an unchanged project again gives the same revision. No two projects share one.
   */
  readonly revision: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: Plan;
  readonly settings: ProjectSettings;
  /** The current one first. */
  readonly secrets: readonly [ProjectSecret, ...ProjectSecret[]];
  readonly database: ProjectDatabase;
  /** True without event triggers for its DDL: RelationAdopter looks for new tables once a second. */
  readonly polled: boolean;
}
