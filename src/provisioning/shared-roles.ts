/**
 * Finds and undoes changes that owners made to roles that are not theirs (docs/internals/shared-objects.md).
 * From PostgreSQL 16 on, owners may create roles and grant them to every role of the server; and each role
 * may store settings for itself, anon included.
 */
import { Client } from 'pg';
import { batchesOf } from '../common/batches';
import { codeOf, messageOf } from '../common/errors/error-facts';
import { REQUEST_ROLES } from '../database/platform/server-capabilities';
import { quoteIdentifier } from '../database/sql/identifier';

/** Memberships in `roles` that the owner of another project gave to `member`. */
export interface ForeignGrant {
  readonly roles: readonly string[];
  readonly member: string;
  readonly grantor: string;
}

const UNDEFINED_OBJECT = '42704';
/** Number of memberships that one statement revokes. */
const CONCURRENCY = 100;
/** The oid of the bootstrap superuser, the grantor of the admin option that the creator of a role gets. */
export const BOOTSTRAP_SUPERUSER = 10;

/**
 * Expressions of WITH RECURSIVE: `owners` contains the owner and login roles of all projects; `made` contains
 * the owners and every role that they created, at any depth.
 */
export const ROLES_OF_OWNERS = `
  owners (oid, login) as (
    select o.oid, l.oid from pg_database d join pg_roles o on o.oid = d.datdba and o.rolname = d.datname || '_owner'
      left join pg_roles l on l.rolname = d.datname || '_login'
    where d.datname ~ '^plinth_[0-9a-z]+$'
  ),
  made (oid, owner) as (
    select oid, oid from owners
    union select m.roleid, made.owner from made
      join pg_auth_members m on m.member = made.oid and m.admin_option and m.grantor = ${BOOTSTRAP_SUPERUSER}
  )`;

/**
 * Grants to a shared role, or to a role of one project, by a role of another project. The roles of a project are its owner, its
 * login role, and those that they created. Each grant slows down the checks of privileges of its member.
 */
const FOREIGN_GRANTS = `
  with recursive ${ROLES_OF_OWNERS},
  members (oid, owner) as (
    select oid, null from pg_roles where rolname = any ($1)
    union all select login, oid from owners
    union all select oid, owner from made
  )
  select array_agg(distinct g.rolname::text) as roles, r.rolname as member, b.rolname as grantor
  from made join pg_auth_members m on m.grantor = made.oid join members on members.oid = m.member
    join pg_roles g on g.oid = m.roleid join pg_roles r on r.oid = m.member join pg_roles b on b.oid = m.grantor
  where members.owner is distinct from made.owner group by 2, 3`;

const SHARED_SETTINGS = `
  select r.rolname as role, d.datname as database, s.setconfig as settings
  from pg_db_role_setting s join pg_roles r on r.oid = s.setrole left join pg_database d on d.oid = s.setdatabase
  where r.rolname = any ($1) order by 1, 2`;

/** Takes a few milliseconds, and does not wait for locks of sessions. */
export async function findForeignGrants(client: Client): Promise<ForeignGrant[]> {
  const { rows } = await client.query<ForeignGrant>({
    name: 'foreign_grants',
    text: FOREIGN_GRANTS,
    values: [[...REQUEST_ROLES]],
  });
  return rows;
}

/** @returns why a grant remains: the last error; null when all are revoked */
export async function revokeForeignGrants(
  client: Client,
  grants: readonly ForeignGrant[],
): Promise<string | null> {
  await client.query('set synchronous_commit = off');
  let failure: string | null = null;
  for (const grant of grants)
    for (const roles of batchesOf(grant.roles, CONCURRENCY))
      failure = (await revoke(client, { ...grant, roles })) ?? failure;
  return failure;
}

/**
 * Revokes the memberships together or, if that fails, one by one: each statement makes every session of the
 * server read memberships again.
 */
async function revoke(client: Client, grant: ForeignGrant): Promise<string | null> {
  const [member, grantor] = [grant.member, grant.grantor].map(quoteIdentifier);
  try {
    const roles = grant.roles.map(quoteIdentifier).join(', ');
    await client.query(`revoke ${roles} from ${member} granted by ${grantor} cascade`);
    return null;
  } catch (error) {
    let failure: string | null = null;
    // The owner may have dropped a role in the meantime. An admin role that is not a superuser may lack the
    // rights of the grantor.
    if (grant.roles.length > 1)
      for (const role of grant.roles)
        failure = (await revoke(client, { ...grant, roles: [role] })) ?? failure;
    else if (codeOf(error) !== UNDEFINED_OBJECT) failure = messageOf(error);
    return failure;
  }
}

/**
 * Removes the settings that are stored in the shared roles: nothing reads them.
 * @returns a line about each
 */
export async function resetSharedRoles(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ role: string; database: string | null; settings: string[] }>(
    SHARED_SETTINGS,
    [[...REQUEST_ROLES]],
  );
  const removed: string[] = [];
  for (const { role, database, settings } of rows) {
    const where = database === null ? '' : ` in database ${quoteIdentifier(database)}`;
    await client.query(`alter role ${quoteIdentifier(role)}${where} reset all`);
    removed.push(`${role}${where}: ${settings.map((one) => one.split('=', 1)[0]).join(', ')}`);
  }
  return removed;
}
