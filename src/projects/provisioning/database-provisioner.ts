/** Creates and drops one project's database and roles. Every step can be repeated after a crash. */
import { Injectable } from '@nestjs/common';
import { Client } from 'pg';
import { quoteIdentifier, quoteLiteral } from '../../database/sql/identifier';
import { DatabaseServer } from './database-server';
import { joinRole, REQUEST_ROLES, TEMPLATE_OWNER } from './global-roles';
import { ServerCapabilities } from './server-capabilities';
import { TemplateDatabase } from './template-database';

/** Names and passwords of what is created. */
export interface DatabaseBlueprint {
  readonly database: string;
  readonly ownerRole: string;
  readonly ownerPassword: string;
  readonly loginRole: string;
  readonly loginPassword: string;
}

/** Connections that an owner may hold: psql, migration tools. */
const OWNER_CONNECTIONS = 40;

@Injectable()
export class DatabaseProvisioner {
  constructor(private readonly template: TemplateDatabase) {}

  /** Creates roles and database; both are complete when it resolves. */
  async create(server: DatabaseServer, plan: DatabaseBlueprint): Promise<void> {
    const capabilities = await this.template.ensureOn(server);
    await server.asAdmin('postgres', async (client) => {
      await client.query(createRoles(plan, capabilities));
      if (!capabilities.superuser) await joinRole(client, plan.ownerRole);
      const [database, owner] = [quoteIdentifier(plan.database), quoteIdentifier(plan.ownerRole)];
      await client.query(
        `create database ${database} owner ${owner} template ${quoteIdentifier(this.template.name)}`,
      );
      await client.query(`revoke all on database ${database} from public;
        grant connect on database ${database} to ${quoteIdentifier(plan.loginRole)}`);
    });
    // The copy holds nothing of the owner's yet: the last moment at which the admin role may work in it.
    await server.asAdmin(plan.database, (client) => handOver(client, plan));
  }

  /** Drops database and roles, as far as they exist. */
  async drop(
    server: DatabaseServer,
    plan: Pick<DatabaseBlueprint, 'database' | 'ownerRole' | 'loginRole'>,
  ): Promise<void> {
    await server.asAdmin('postgres', async (client) => {
      await client.query(`drop database if exists ${quoteIdentifier(plan.database)} with (force)`);
      for (const role of await rolesOf(client, plan.ownerRole)) {
        await client.query(`drop role if exists ${quoteIdentifier(role)}`);
      }
      await client.query(`drop role if exists ${quoteIdentifier(plan.loginRole)}`);
      await client.query(`drop role if exists ${quoteIdentifier(plan.ownerRole)}`);
    });
  }

  /** Turns the closing of new tables on or off (setting auto_rls). */
  async setAutoRls(server: DatabaseServer, database: string, on: boolean): Promise<void> {
    await server.asAdmin('postgres', (client) =>
      client.query(`alter database ${quoteIdentifier(database)} set plinth.auto_rls = ${on ? 'on' : 'off'}`),
    );
  }
}

/** One simple query, hence one transaction: both roles with their memberships, or none. */
function createRoles(plan: DatabaseBlueprint, capabilities: ServerCapabilities): string {
  const [owner, login] = [quoteIdentifier(plan.ownerRole), quoteIdentifier(plan.loginRole)];
  // From PostgreSQL 16 on CREATEROLE reaches only the roles that it created itself: a project may have roles of its own.
  const createRole = capabilities.version >= 16 ? 'createrole' : '';
  return `
    create role ${owner} login ${createRole} connection limit ${OWNER_CONNECTIONS}
      password ${quoteLiteral(plan.ownerPassword)};
    create role ${login} login noinherit password ${quoteLiteral(plan.loginPassword)};
    grant ${REQUEST_ROLES.join(', ')} to ${login}, ${owner};
    alter role ${login} set search_path = public, extensions;
    alter role ${owner} set search_path = public, extensions;
    alter role ${login} set idle_in_transaction_session_timeout = '60s';`;
}

async function handOver(client: Client, plan: DatabaseBlueprint): Promise<void> {
  const [owner, login] = [quoteIdentifier(plan.ownerRole), quoteIdentifier(plan.loginRole)];
  await client.query(`
    reassign owned by ${TEMPLATE_OWNER} to ${owner};
    grant usage on schema auth, storage, extensions, public to ${login};
    grant select, insert, update, delete on all tables in schema auth to ${login};
    grant usage on all sequences in schema auth to ${login};
    grant select, insert, update, delete on all tables in schema storage to ${login};
    alter default privileges for role ${owner} in schema auth grant select, insert, update, delete on tables to ${login};
    alter default privileges for role ${owner} in schema storage grant select, insert, update, delete on tables to ${login};
    alter default privileges for role ${owner} in schema public grant all on tables to ${REQUEST_ROLES.join(', ')};
    alter default privileges for role ${owner} in schema public grant all on sequences to ${REQUEST_ROLES.join(', ')};
    alter default privileges for role ${owner} in schema public grant execute on functions to ${REQUEST_ROLES.join(', ')};`);
}

/** Roles that the owner created for the project: members it administers (PostgreSQL 16 and later). */
async function rolesOf(client: Client, ownerRole: string): Promise<string[]> {
  const { rows } = await client.query<{ rolname: string }>(
    `select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles o on o.oid = m.member
     where o.rolname = $1 and m.admin_option and not r.rolsuper`,
    [ownerRole],
  );
  return rows.map((row) => row.rolname);
}
