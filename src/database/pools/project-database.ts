/** Where a project's database is and as whom Plinth's request path logs in to it. */

import type { ClientConfig } from 'pg';
import { SESSION_DEFAULTS } from './session-defaults';
import { startupOptions } from './startup-options';

const LOGIN_OPTIONS = startupOptions(SESSION_DEFAULTS);

export interface ProjectDatabase {
  /** The project's id: the key of its pool. */
  readonly key: string;
  /** Name or address, or the directory of its Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** The login role: NOINHERIT, may switch to anon, authenticated, service_role and what the project granted to it. */
  readonly user: string;
  readonly password: string;
  readonly ssl: NonNullable<ClientConfig['ssl']>;
}

/** How node-postgres connects as the login role. */
export function loginConfig(place: ProjectDatabase): ClientConfig & Pick<ProjectDatabase, 'ssl'> {
  const { host, port, database, user, password, ssl } = place;
  return { host, port, database, user, password, ssl, options: LOGIN_OPTIONS };
}
