/** A project as the request path sees it: immutable, cached, with its secrets opened. */
import { ProjectDatabase } from '../database/pools/project-database';
import { Plan } from './plans';
import { ProjectSettings } from './project-settings';

export interface ProjectSecret {
  /** Names the secret in a token's header (RFC 7515, 4.1.4). */
  readonly kid: string;
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; null: the current one, which signs. */
  readonly expiresAt: number | null;
}

export interface Project {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly plan: Plan;
  readonly settings: ProjectSettings;
  /** The current one first. */
  readonly secrets: readonly [ProjectSecret, ...ProjectSecret[]];
  /** Signs storage addresses. */
  readonly storageSecret: string;
  readonly database: ProjectDatabase;
}
