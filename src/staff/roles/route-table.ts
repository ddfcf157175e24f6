/**
 * The table that decides who may use which route of the administration: route by role and scope. StaffGuard
 * reads it, the application does not start with a route that is missing here, a test tries every cell over
 * HTTP, and docs/reference/access.md shows it.
 *
 * On a route of a project, the roles of the installation count in every project, and the roles of a project
 * in that project alone; staff without either get the same 404 as for a project that does not exist. On any
 * other route, a role of a project counts if the staff member has it in some project; what they then see or
 * change there is limited to such projects by the service.
 */
import type { InstallRole, ProjectRole } from '../accounts/staff-member';

export type Role = InstallRole | ProjectRole;

export interface RouteAccess {
  /** Null allows every staff member, whatever roles they have. */
  readonly roles: readonly Role[] | null;
  /** The scope that a personal access token needs; null if the route does not accept tokens. */
  readonly scope: Scope | null;
  /** Sessions need a proof of identity that is less than ten minutes old: `POST /admin/v1/session/confirm`. */
  readonly stepUp?: true;
}

/** Roles in the order of the columns of docs/reference/access.md. */
export const ROLES = ['owner', 'operator', 'auditor', 'admin', 'developer', 'viewer'] as const;

const EVERYBODY = null;
const READERS = ROLES;
const INSTALL_READERS = ['owner', 'operator', 'auditor'] as const;
const OPERATORS = ['owner', 'operator'] as const;
const OWNERS = ['owner'] as const;
const PROJECT_ADMINS = ['owner', 'operator', 'admin'] as const;
const DEVELOPERS = ['owner', 'operator', 'admin', 'developer'] as const;
const INSPECTORS = ['owner', 'operator', 'auditor', 'admin', 'developer'] as const;
/** Staff who manage a project, or audit the installation. */
export const INVITERS: readonly Role[] = ['owner', 'operator', 'auditor', 'admin'];

const allow = (roles: readonly Role[] | null, scope: Scope | null): RouteAccess => ({ roles, scope });

/**
 * A session alone may be stolen. These operations grant or reveal access that outlives the session (a credential, a
 * right, a trusted issuer or server, a sender, SQL that runs by itself, a copy of all data), or cannot be undone.
 */
const confirmed = (access: RouteAccess): RouteAccess => ({ ...access, stepUp: true });

/** Keyed by method and path as declared. */
export const ROUTE_TABLE: Readonly<Record<string, RouteAccess>> = {
  // The staff member's own account. Requests that change the password, the second factor or passkeys contain the
  // current password.
  'GET /admin/v1/session': allow(EVERYBODY, 'read'),
  'DELETE /admin/v1/session': allow(EVERYBODY, null),
  'POST /admin/v1/session/confirm': allow(EVERYBODY, null),
  'PATCH /admin/v1/session/password': allow(EVERYBODY, null),
  'POST /admin/v1/session/factor': allow(EVERYBODY, null),
  'PUT /admin/v1/session/factor': allow(EVERYBODY, null),
  'DELETE /admin/v1/session/factor': allow(EVERYBODY, null),
  'GET /admin/v1/sessions': allow(EVERYBODY, null),
  'DELETE /admin/v1/sessions/:id': allow(EVERYBODY, null),
  'GET /admin/v1/passkeys': allow(EVERYBODY, null),
  'POST /admin/v1/passkeys': allow(EVERYBODY, null),
  'POST /admin/v1/passkeys/options': allow(EVERYBODY, null),
  'PATCH /admin/v1/passkeys/:id': allow(EVERYBODY, null),
  'DELETE /admin/v1/passkeys/:id': allow(EVERYBODY, null),
  'POST /admin/v1/scim-token': confirmed(allow(OWNERS, 'admin')),
  'DELETE /admin/v1/scim-token': confirmed(allow(OWNERS, 'admin')),
  'POST /admin/v1/projects/:id/scim-token': confirmed(allow(PROJECT_ADMINS, 'admin')),
  'DELETE /admin/v1/projects/:id/scim-token': confirmed(allow(PROJECT_ADMINS, 'admin')),
  'GET /admin/v1/tokens': allow(EVERYBODY, 'read'),
  'POST /admin/v1/tokens': confirmed(allow(EVERYBODY, 'admin')),
  // Any token may end itself; to end another token, the service requires `admin`.
  'DELETE /admin/v1/tokens/:id': allow(EVERYBODY, 'read'),

  // Routes of staff.
  'POST /admin/v1/setup/link': confirmed(allow(OWNERS, 'admin')),
  'GET /admin/v1/people': allow(INSTALL_READERS, 'read'),
  'PATCH /admin/v1/people/:id': confirmed(allow(OPERATORS, 'admin')),
  'DELETE /admin/v1/people/:id': confirmed(allow(OPERATORS, 'admin')),
  'GET /admin/v1/people/:id/projects': allow(INSTALL_READERS, 'read'),
  'GET /admin/v1/invitations': allow(INVITERS, 'read'),
  'POST /admin/v1/invitations': confirmed(allow(PROJECT_ADMINS, 'admin')),
  'DELETE /admin/v1/invitations/:id': allow(PROJECT_ADMINS, 'admin'),
  'GET /admin/v1/projects/:id/people': allow(READERS, 'read'),
  'PUT /admin/v1/projects/:id/people/:person_id': confirmed(allow(PROJECT_ADMINS, 'admin')),
  'DELETE /admin/v1/projects/:id/people/:person_id': confirmed(allow(PROJECT_ADMINS, 'admin')),

  // Routes of the installation.
  'GET /admin/v1/audit-log': allow(INSTALL_READERS, 'read'),
  'GET /admin/v1/audit-log/export': allow(INSTALL_READERS, 'read'),
  'GET /admin/v1/audit-log/verify': allow(INSTALL_READERS, 'read'),
  'GET /admin/v1/queues': allow(INSTALL_READERS, 'read'),
  'POST /admin/v1/queues/:name/retry': allow(OPERATORS, 'write'),
  'GET /admin/v1/failed-mails': allow(INSTALL_READERS, 'read'),
  'POST /admin/v1/doctor': allow(OPERATORS, 'admin'),
  'POST /admin/v1/upgrade': allow(OPERATORS, 'admin'),

  'GET /admin/v1/servers': allow(INSTALL_READERS, 'read'),
  'POST /admin/v1/servers': confirmed(allow(OPERATORS, 'admin')),
  'PATCH /admin/v1/servers/:name': confirmed(allow(OPERATORS, 'admin')),
  'DELETE /admin/v1/servers/:name': allow(OPERATORS, 'admin'),

  'GET /admin/v1/backup': confirmed(allow(OWNERS, 'admin')),
  'GET /admin/v1/physical-backup': confirmed(allow(OWNERS, 'admin')),
  'GET /admin/v1/backups': allow(INSTALL_READERS, 'read'),
  'GET /admin/v1/backups/runs': allow(INSTALL_READERS, 'read'),
  'POST /admin/v1/backups/runs': allow(OPERATORS, 'admin'),
  'POST /admin/v1/backups/rehearsals': allow(OPERATORS, 'admin'),
  'PUT /admin/v1/backups/schedule': confirmed(allow(OPERATORS, 'admin')),
  'DELETE /admin/v1/backups/schedule': confirmed(allow(OPERATORS, 'admin')),
  'POST /admin/v1/restore/all': confirmed(allow(OWNERS, 'admin')),

  // Routes of projects.
  'GET /admin/v1/projects': allow(EVERYBODY, 'read'),
  'POST /admin/v1/projects': confirmed(allow(OPERATORS, 'admin')),
  'POST /admin/v1/restore': confirmed(allow(OPERATORS, 'admin')),
  'GET /admin/v1/projects/:id': allow(READERS, 'read'),
  'PATCH /admin/v1/projects/:id': confirmed(allow(PROJECT_ADMINS, 'write')),
  'DELETE /admin/v1/projects/:id': confirmed(allow(OPERATORS, 'admin')),
  'POST /admin/v1/projects/:id/pause': allow(PROJECT_ADMINS, 'admin'),
  'POST /admin/v1/projects/:id/resume': allow(PROJECT_ADMINS, 'admin'),
  'GET /admin/v1/projects/:id/move': allow(INSTALL_READERS, 'read'),
  'POST /admin/v1/projects/:id/move': confirmed(allow(OPERATORS, 'admin')),
  'GET /admin/v1/projects/:id/backup': confirmed(allow(PROJECT_ADMINS, 'admin')),
  'GET /admin/v1/projects/:id/backups': allow(DEVELOPERS, 'read'),
  'GET /admin/v1/projects/:id/backups/:backup_id/tables': allow(DEVELOPERS, 'read'),
  // Rows of tables that the service role may read, including rows that were deleted since.
  'GET /admin/v1/projects/:id/backups/:backup_id/tables/:table/rows': confirmed(allow(DEVELOPERS, 'sql')),
  'GET /admin/v1/projects/:id/backups/:backup_id': confirmed(allow(PROJECT_ADMINS, 'admin')),
  'GET /admin/v1/projects/:id/keys': confirmed(allow(DEVELOPERS, 'admin')),
  'POST /admin/v1/projects/:id/keys/rotate': confirmed(allow(PROJECT_ADMINS, 'admin')),
  'GET /admin/v1/projects/:id/api-keys': allow(DEVELOPERS, 'read'),
  'POST /admin/v1/projects/:id/api-keys': confirmed(allow(DEVELOPERS, 'admin')),
  'DELETE /admin/v1/projects/:id/api-keys/:key_id': allow(DEVELOPERS, 'admin'),
  'GET /admin/v1/projects/:id/s3-keys': allow(DEVELOPERS, 'read'),
  'POST /admin/v1/projects/:id/s3-keys': confirmed(allow(DEVELOPERS, 'admin')),
  'DELETE /admin/v1/projects/:id/s3-keys/:access_key_id': allow(DEVELOPERS, 'admin'),
  'GET /admin/v1/projects/:id/database': confirmed(allow(DEVELOPERS, 'admin')),
  'GET /admin/v1/projects/:id/tables': allow(READERS, 'read'),
  'GET /admin/v1/projects/:id/catalog': allow(READERS, 'read'),
  'GET /admin/v1/projects/:id/catalog/objects': allow(READERS, 'read'),
  'GET /admin/v1/projects/:id/schema': allow(READERS, 'read'),
  // Runs read-only in an unconfirmed session; a change requires the proof of identity.
  'POST /admin/v1/projects/:id/sql': allow(DEVELOPERS, 'sql'),
  // Statements can contain values.
  'GET /admin/v1/projects/:id/queries': allow(INSPECTORS, 'read'),
  'POST /admin/v1/projects/:id/queries': allow(DEVELOPERS, 'sql'),
  'PATCH /admin/v1/projects/:id/queries/:query_id': allow(DEVELOPERS, 'sql'),
  'DELETE /admin/v1/projects/:id/queries/:query_id': allow(DEVELOPERS, 'sql'),
  'GET /admin/v1/projects/:id/migrations': allow(READERS, 'read'),
  'POST /admin/v1/projects/:id/migrations': confirmed(allow(DEVELOPERS, 'sql')),
  'GET /admin/v1/projects/:id/live-tables': allow(READERS, 'read'),
  'PATCH /admin/v1/projects/:id/live-tables': allow(DEVELOPERS, 'write'),
  // Addresses can be secrets, and bodies contain rows of tables. Conditions are SQL.
  'GET /admin/v1/projects/:id/webhooks': allow(INSPECTORS, 'read'),
  'POST /admin/v1/projects/:id/webhooks': confirmed(allow(DEVELOPERS, 'sql')),
  'PATCH /admin/v1/projects/:id/webhooks/:webhook_id': confirmed(allow(DEVELOPERS, 'sql')),
  'DELETE /admin/v1/projects/:id/webhooks/:webhook_id': allow(DEVELOPERS, 'sql'),
  'POST /admin/v1/projects/:id/webhooks/:webhook_id/secret': confirmed(allow(DEVELOPERS, 'sql')),
  'GET /admin/v1/projects/:id/webhooks/:webhook_id/deliveries': allow(INSPECTORS, 'read'),
  'GET /admin/v1/projects/:id/webhooks/:webhook_id/deliveries/:delivery_id': allow(INSPECTORS, 'read'),
  'POST /admin/v1/projects/:id/webhooks/:webhook_id/deliveries/:delivery_id/retry': allow(
    DEVELOPERS,
    'write',
  ),
  'GET /admin/v1/projects/:id/schedules': allow(INSPECTORS, 'read'),
  'POST /admin/v1/projects/:id/schedules': confirmed(allow(DEVELOPERS, 'sql')),
  'PATCH /admin/v1/projects/:id/schedules/:schedule_id': confirmed(allow(DEVELOPERS, 'sql')),
  'DELETE /admin/v1/projects/:id/schedules/:schedule_id': allow(DEVELOPERS, 'sql'),
  'GET /admin/v1/projects/:id/schedules/:schedule_id/runs': allow(INSPECTORS, 'read'),
  // Rows of auth.users, which SQL could write as well.
  'POST /admin/v1/projects/:id/users/import': confirmed(allow(DEVELOPERS, 'sql')),
  'GET /admin/v1/projects/:id/storage/check': allow(READERS, 'read'),
  'POST /admin/v1/projects/:id/storage/sweep': allow(PROJECT_ADMINS, 'write'),
  'POST /admin/v1/projects/:id/failed-mails/:mail_id/retry': allow(DEVELOPERS, 'write'),
  'GET /admin/v1/projects/:id/overview': allow(READERS, 'read'),
  'GET /admin/v1/projects/:id/requests': allow(READERS, 'read'),
  'GET /admin/v1/projects/:id/history': allow(READERS, 'read'),
  'GET /admin/v1/projects/:id/samples': allow(READERS, 'read'),
  'GET /admin/v1/projects/:id/usage': allow(READERS, 'read'),
  // Statements contain the values that clients sent.
  'GET /admin/v1/projects/:id/database/activity': allow(INSPECTORS, 'read'),
  'POST /admin/v1/projects/:id/database/activity/:pid/cancel': allow(DEVELOPERS, 'sql'),
  'POST /admin/v1/projects/:id/database/activity/:pid/terminate': allow(DEVELOPERS, 'sql'),
  'GET /admin/v1/projects/:id/database/slow-queries': allow(READERS, 'read'),
  'GET /admin/v1/projects/:id/advice': allow(READERS, 'read'),
  'POST /admin/v1/projects/:id/advice/:advice_id/dismiss': allow(DEVELOPERS, 'write'),
  'DELETE /admin/v1/projects/:id/advice/:advice_id/dismiss': allow(DEVELOPERS, 'write'),
  // The returned token is read-only for roles and scopes that may not write. If the session is not confirmed,
  // it cannot change accounts or providers of the project.
  'POST /admin/v1/projects/:id/access-tokens': allow(READERS, 'read'),
};

/** True for routes of one project, whose id is the parameter `id`. */
export const isOfProject = (route: string): boolean => route.includes(' /admin/v1/projects/:id');

export const SCOPES = ['read', 'write', 'sql', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];
