/** A project as the request path sees it: immutable, cached, with its secrets opened. */
import type { KeyObject } from 'node:crypto';
import { ProjectDatabase } from '../database/pools/project-database';
import { Plan } from './plans';
import { ProjectSettings } from './project-settings';

/** What a project signs with, from one rotation to the next. */
export interface ProjectSecret {
  /** Names the secret in a token's header (RFC 7515, 4.1.4). */
  readonly kid: string;
  /** Signs tokens. */
  readonly secret: string;
  /** The same for signing and verifying: jsonwebtoken tries to read text as a PEM first, which costs milliseconds. */
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
   * Changes when anything else here does, and at no other time: the key of everything that is made from a project. Reading a
   * project again gives the same one. No two projects share one.
   */
  readonly revision: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: Plan;
  readonly settings: ProjectSettings;
  /** The current one first. */
  readonly secrets: readonly [ProjectSecret, ...ProjectSecret[]];
  readonly database: ProjectDatabase;
  /** No event trigger watches its DDL: new tables are looked for once a second. */
  readonly polled: boolean;
}
