/** Databases of the installation that a role of another project may connect to, and sessions of such roles in them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { LOGIN_GROUP, REQUEST_ROLES } from '../../database/platform/server-capabilities';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { ProjectsService } from '../../projects/projects.service';
import { ROLES_OF_OWNERS } from '../../provisioning/shared-roles';
import type { Finding } from '../finding';
import { ServerCheck } from './server.check';

/**
 * `ours` has the databases of projects, templates, and the platform's; `tenants` every role of a project with its database, and
 * without one the roles that the owners of all projects are members of. The planner expects few rows on a server that was not
 * analyzed, and would compute `homes` again for each database.
 */
const WITH_ROLES = `with recursive ours as (
    select oid, datname, datacl, datdba from pg_database
    where (datname ~ '^plinth_([0-9a-z]+|template_.*)$' or datname = $1) and pg_has_role(datdba, 'USAGE')
  ), ${ROLES_OF_OWNERS},
  tenants (role, home) as (
    select oid, regexp_replace(rolname, '_(owner|login)$', '') from pg_roles where rolname ~ '^plinth_(?!template_)[0-9a-z]+_(owner|login)$'
    union select made.oid, d.datname from made join pg_database d on d.datdba = made.owner
    union select oid, null from pg_roles where rolname = any ($2)
  ),
  homes (role, databases) as materialized (select role, array_agg(home::text) from tenants group by 1)`;

/** The database and the role. A list of all pairs would grow with the roles of owners times the databases. */
const IS_FOREIGN = 'array_position(h.databases, d.datname::text) is null';

/** Includes databases that accept no connections now. */
const OPEN = `${WITH_ROLES}
  select d.datname as database, case when a.grantee = 0 then 'every role' else a.grantee::regrole::text end as role
  from ours d cross join aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
    left join homes h on h.role = a.grantee
  where a.privilege_type = 'CONNECT' and (a.grantee = 0 or h.role is not null and ${IS_FOREIGN})
  order by 1, 2 limit 20`;

const ENTERED = `${WITH_ROLES}
  select a.datname as database, a.usename as role, a.pid
  from pg_stat_activity a join ours d on d.oid = a.datid join homes h on h.role = a.usesysid
  where ${IS_FOREIGN}
  order by 1, 3 limit 20`;

/** Milliseconds in which a database that is being created is closed to others. */
const CREATION_MS = 1_000;

interface Grant {
  readonly database: string;
  readonly role: string;
}

@Injectable()
export class DatabaseAccessCheck extends ServerCheck {
  readonly name = 'database_access';

  constructor(projects: ProjectsService, @Inject(PLATFORM_URL) platformUrl: string) {
    super(projects, platformUrl);
  }

  override async find(): Promise<Finding[]> {
    const all = await super.find();
    return all.length > 0 ? all : [this.ok('every database admits the roles of its own project only')];
  }

  protected failure(address: string, message: string): Finding {
    return this.failed(
      `${address}: access to databases cannot be checked: ${message}`,
      'Run the doctor again when the server can be reached.',
    );
  }

  protected async findIn(client: Client): Promise<Finding[]> {
    const platform = decodeURIComponent(new URL(this.platformUrl).pathname.slice(1));
    const values = [platform, [...REQUEST_ROLES, LOGIN_GROUP]];
    const open = await this.listOpen(client, values);
    const entered = await client.query<{ database: string; role: string; pid: number }>(ENTERED, values);
    return [
      ...open.map(({ database, role }) =>
        this.failed(
          `${role} may connect to the database ${database}`,
          'Revoke CONNECT on the database from it, or from PUBLIC, as its owner or a superuser.',
        ),
      ),
      ...entered.rows.map(({ database, role, pid }) =>
        this.failed(
          `the role ${role} has a session in the database ${database}`,
          `End it with select pg_terminate_backend(${pid}), and read the log of PostgreSQL: it may have read everything.`,
        ),
      ),
    ];
  }

  /** A database that is being created admits every role until its second statement, but accepts no connections. */
  private async listOpen(client: Client, values: readonly unknown[]): Promise<Grant[]> {
    const { rows } = await client.query<Grant>(OPEN, [...values]);
    if (rows.length === 0) return rows;
    await sleep(CREATION_MS);
    const { rows: later } = await client.query<Grant>(OPEN, [...values]);
    return later.filter((one) =>
      rows.some(({ database, role }) => database === one.database && role === one.role),
    );
  }
}
