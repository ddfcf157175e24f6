/** The address of a project's database, and the role with which Plinth's request path logs in to it. */
import type { HostAddress, HostListConfig, ServerAddress } from '../../pg-pipeline';
import { SESSION_DEFAULTS, startupOptions } from './session-state';

const LOGIN_OPTIONS = startupOptions(SESSION_DEFAULTS);

/** Name of the server that has the platform database. */
export const PLATFORM_SERVER = 'platform';

export interface ProjectDatabase extends ServerAddress {
  /** The project's id: the key of its pool. */
  readonly key: string;
  readonly database: string;
  /** The login role: NOINHERIT, may switch to anon, authenticated, service_role and roles that the project granted to it. */
  readonly user: string;
  readonly password: string;
  /** True while the project is paused: no connection is opened. */
  readonly isPaused?: boolean;
  /** Replaces host and port if the server has several hosts, of which one is the primary. */
  readonly hosts?: readonly HostAddress[];
  /** Name of the registered server, whose replicas may be read. */
  readonly server?: string;
  /** The address is that of a replica. */
  readonly isReplica?: boolean;
}

/** Milliseconds for a connection to a replica: short, because waiting reads could use the primary instead. */
const REPLICA_CONNECT_MS = 1_000;

/** How node-postgres connects as the login role. */
export function loginConfig(place: ProjectDatabase): HostListConfig & ServerAddress {
  const { host, port, hosts, database, user, password, ssl } = place;
  const address = place.isReplica ? { connectionTimeoutMillis: REPLICA_CONNECT_MS } : { hosts };
  return { host, port, database, user, password, ssl, options: LOGIN_OPTIONS, ...address };
}
