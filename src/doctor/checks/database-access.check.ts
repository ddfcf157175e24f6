/** Databases of the installation that a role of another project may connect to, and sessions of such roles in them. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { ProjectsService } from '../../projects/projects.service';
import { DatabaseServer, MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { DoctorCheck, Finding } from '../finding';

/** Databases of projects, templates, and the platform's, with their roles: none other of Plinth may enter. */
const DATABASES = `ours as (
  select oid, datname, datacl, datdba from pg_database
  where datallowconn and (datname ~ '^plinth_([0-9a-z]+|template_.*)$' or datname = $1) and pg_has_role(datdba, 'USAGE')),
  foreigners as (
  select d.oid as database, r.oid as role from ours d, pg_roles r
  where r.rolname ~ '^plinth_[0-9a-z]+_(owner|login)$' and r.rolname <> all (array[d.datname || '_owner', d.datname || '_login']))`;

const OPEN = `with ${DATABASES}
  select d.datname as database, case when a.grantee = 0 then 'every role' else a.grantee::regrole::text end as role
  from ours d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
  where a.privilege_type = 'CONNECT'
    and (a.grantee = 0 or (d.oid, a.grantee) in (select database, role from foreigners))
  order by 1, 2 limit 20`;

const ENTERED = `with ${DATABASES}
  select a.datname as database, a.usename as role, a.pid
  from pg_stat_activity a where (a.datid, a.usesysid) in (select database, role from foreigners)
  order by 1, 3 limit 20`;

@Injectable()
export class DatabaseAccessCheck extends DoctorCheck {
  readonly name = 'database_access';

  constructor(
    private readonly projects: ProjectsService,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {
    super();
  }

  async find(): Promise<Finding[]> {
    const servers = [new DatabaseServer(this.platformUrl), ...(await this.projects.listServersElsewhere())];
    const unique = new Map(servers.map((server) => [server.key, server]));
    const found = await Promise.all(
      [...unique.values()].map((server) =>
        server.asAdmin(MAINTENANCE_DATABASE, (client) => this.findIn(client)),
      ),
    );
    const all = found.flat();
    return all.length > 0 ? all : [this.ok('every database admits the roles of its own project only')];
  }

  private async findIn(client: Client): Promise<Finding[]> {
    const platform = [decodeURIComponent(new URL(this.platformUrl).pathname.slice(1))];
    const open = await client.query<{ database: string; role: string }>(OPEN, platform);
    const entered = await client.query<{ database: string; role: string; pid: number }>(ENTERED, platform);
    return [
      ...open.rows.map(({ database, role }) =>
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
}
