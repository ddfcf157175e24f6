/**
 * The group of all roles with LOGIN that Plinth creates. The embedded PostgreSQL admits its members only, and the
 * pg_hba.conf of another server can do the same (docs/administration.md). It exists from PostgreSQL 16 on; in earlier
 * versions owners cannot create roles.
 */
export const LOGIN_GROUP = 'plinth_logins';

/** The first version in which owners may create roles, and in which GRANT ... WITH INHERIT FALSE exists. */
export const LOGIN_GROUP_SINCE = 16;
