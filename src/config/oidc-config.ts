/** Single sign-on of staff by OpenID Connect, and the roles of groups: its variables are checked together. */
import { isJsonObject, type JsonObject, parseJson } from '../common/text/json';
import type { GroupRoles, OidcConfig } from './app-config';
import type { EnvironmentVariables } from './env.schema';

const INSTALL_ROLES = ['owner', 'operator', 'auditor'];
const PROJECT_ROLES = ['admin', 'developer', 'viewer'];
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

const EXAMPLE = '{"platform": {"role": "operator"}, "shop": {"projects": {"acme": "developer"}}}';

/** Faults in the combination of the variables. */
export function oidcFaults(env: EnvironmentVariables): string[] {
  const { STAFF_OIDC_ISSUER: issuer, STAFF_OIDC_CLIENT_ID: clientId, STAFF_OIDC_ROLES: roles } = env;
  return [
    ...(issuer && !clientId ? ['STAFF_OIDC_CLIENT_ID: STAFF_OIDC_ISSUER needs a client'] : []),
    ...(issuer && !isSafe(issuer) ? ['STAFF_OIDC_ISSUER: must be https, unless it is on this machine'] : []),
    ...(roles === undefined || toRoles(parseJson(roles))
      ? []
      : [`STAFF_OIDC_ROLES must be JSON such as ${EXAMPLE}`]),
  ];
}

export function oidcConfig(env: EnvironmentVariables): OidcConfig | null {
  const { STAFF_OIDC_ISSUER: issuer, STAFF_OIDC_CLIENT_ID: clientId } = env;
  if (!issuer || !clientId) return null;
  return {
    issuer,
    clientId,
    clientSecret: env.STAFF_OIDC_CLIENT_SECRET ?? null,
    scopes: env.STAFF_OIDC_SCOPES,
    groupsClaim: env.STAFF_OIDC_GROUPS_CLAIM,
    roles: toRoles(parseJson(env.STAFF_OIDC_ROLES ?? '{}')) ?? {},
  };
}

/** False for plain HTTP to another machine. */
export function isSafe(issuer: string): boolean {
  if (!URL.canParse(issuer)) return true;
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'https:' || LOOPBACK.includes(hostname);
}

/** Null for a value of another form. */
export function toRoles(value: unknown): Record<string, GroupRoles> | null {
  if (!isJsonObject(value)) return null;
  const entries = Object.entries(value).map(([group, one]) => [group, toGroupRoles(one)] as const);
  if (entries.some(([, roles]) => roles === null)) return null;
  return Object.fromEntries(entries) as Record<string, GroupRoles>;
}

function toGroupRoles(value: unknown): GroupRoles | null {
  if (!isJsonObject(value)) return null;
  const { role = null, projects = {}, ...others } = value as JsonObject & { role?: unknown };
  const isRole = role === null || INSTALL_ROLES.includes(role as string);
  if (!isRole || !isJsonObject(projects) || Object.keys(others).length > 0) return null;
  if (!Object.values(projects).every((one) => PROJECT_ROLES.includes(one as string))) return null;
  return { role, projects } as GroupRoles;
}
