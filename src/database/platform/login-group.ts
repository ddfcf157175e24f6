/**
 * Its members are the roles that Plinth itself makes and that log in: the embedded PostgreSQL lets nobody else in, and
 * another server can be told the same in its pg_hba.conf (docs/administration.md). From PostgreSQL 16 on, as before that
 * owners create no roles.
 */
export const LOGIN_GROUP = 'plinth_logins';

/** The first version in which owners may create roles, and in which membership can be had without its rights. */
export const LOGIN_GROUP_SINCE = 16;
