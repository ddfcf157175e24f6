/** The address of a project's database, and the role with which Plinth's request path logs in to it. */
import type { ClientConfig } from 'pg';
import type { ServerAddress } from '../../pg-pipeline';
import { SESSION_DEFAULTS } from './session-defaults';
import { startupOptions } from './startup-options';

const LOGIN_OPTIONS = startupOptions(SESSION_DEFAULTS);

export interface ProjectDatabase extends ServerAddress {
  /** The project's id: the key of its pool. */
  readonly key: string;
  readonly database: string;
  /**
   * The login role: NOINHERIT, may switch to anon, authenticated, service_role and what the project granted to
   * it.
   */
  readonly user: string;
  readonly password: string;
  /** True while the project is paused: no connection is opened. */
  readonly isPaused?: boolean;
}

/** How node-postgres connects as the login role. */
export function loginConfig(place: ProjectDatabase): ClientConfig & ServerAddress {
  const { host, port, database, user, password, ssl } = place;
  return { host, port, database, user, password, ssl, options: LOGIN_OPTIONS };
}
