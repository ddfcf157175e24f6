/** Where a project's database is and as whom Plinth's request path logs in to it. */

import type { ClientConfig } from 'pg';

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
