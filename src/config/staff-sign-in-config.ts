/** How staff sign in besides passwords: STAFF_OIDC, STAFF_SAML and STAFF_LDAP, one JSON object each. */
import { isAbsolute } from 'node:path';
import { isJsonObject, type JsonObject, parseJson } from '../common/text/json';
import type { GroupRoles, OidcConfig, StaffLdapConfig, StaffSamlConfig } from './app-config';
import { isAddress } from './env.checks';
import type { EnvironmentVariables } from './env.schema';
import { isLdapSetting } from './ldap-setting';

type Roles = OidcConfig['roles'];

const INSTALL_ROLES = ['owner', 'operator', 'auditor'];
const PROJECT_ROLES = ['admin', 'developer', 'viewer'];
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const SCOPES = /^openid( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

const ROLES_EXAMPLE = '{"platform": {"role": "operator"}, "shop": {"projects": {"acme": "developer"}}}';
export const OIDC_EXAMPLE = `{"issuer": "https://id.example.com/realms/acme", "client_id": "plinth", "client_secret": "...", "scopes": "openid email profile", "groups_claim": "groups", "roles": ${ROLES_EXAMPLE}}`;
const SAML_EXAMPLE = `{"metadata": "https://id.example.com/metadata", "domains": ["example.com"], "roles": ${ROLES_EXAMPLE}}`;
const LDAP_EXAMPLE = `{"url": "ldaps://dc.example.com", "bind_dn": "cn=plinth,dc=example,dc=com", "bind_password": "...", "base_dn": "dc=example,dc=com", "group_filter": "(member={dn})", "roles": ${ROLES_EXAMPLE}}`;

export function staffFaults(env: EnvironmentVariables): string[] {
  const mustBe = (setting: string, example: string): string =>
    `${setting} must be JSON such as ${example}; addresses are https, unless they are on this machine`;
  return [
    ...(env.STAFF_OIDC && !staffOidcConfig(env) ? [mustBe('STAFF_OIDC', OIDC_EXAMPLE)] : []),
    ...(env.STAFF_SAML && !staffSamlConfig(env) ? [mustBe('STAFF_SAML', SAML_EXAMPLE)] : []),
    ...(env.STAFF_LDAP && !staffLdapConfig(env) ? [mustBe('STAFF_LDAP', LDAP_EXAMPLE)] : []),
  ];
}

/** Null if STAFF_OIDC is not set or is malformed. */
export function staffOidcConfig({ STAFF_OIDC: text }: EnvironmentVariables): OidcConfig | null {
  const { value, roles } = parse(text);
  if (!value || !roles) return null;
  const {
    issuer,
    client_id: clientId,
    client_secret: clientSecret = null,
    scopes = 'openid email profile',
    groups_claim: groupsClaim = 'groups',
    ...others
  } = value;
  const isKnown =
    isText(issuer) &&
    (isAddress(issuer, 'https') || isAddress(issuer, 'http')) &&
    isSafe(issuer) &&
    isText(clientId) &&
    (clientSecret === null || isText(clientSecret)) &&
    isText(scopes) &&
    SCOPES.test(scopes) &&
    isText(groupsClaim) &&
    Object.keys(others).length === 0;
  return isKnown ? { issuer, clientId, clientSecret, scopes, groupsClaim, roles } : null;
}

/** Null if STAFF_SAML is not set or is malformed. */
export function staffSamlConfig({ STAFF_SAML: text }: EnvironmentVariables): StaffSamlConfig | null {
  const { value, roles } = parse(text);
  if (!value || !roles) return null;
  const { metadata, domains = [], attribute_mapping: mapping = null, ...others } = value;
  const isKnown =
    isText(metadata) &&
    (/^https?:/i.test(metadata) ? URL.canParse(metadata) && isSafe(metadata) : isAbsolute(metadata)) &&
    Array.isArray(domains) &&
    domains.every((domain) => typeof domain === 'string') &&
    (mapping === null || isJsonObject(mapping)) &&
    Object.keys(others).length === 0;
  return isKnown ? { metadata, domains, mapping, roles } : null;
}

/** Null if STAFF_LDAP is not set or is malformed. */
export function staffLdapConfig({ STAFF_LDAP: text }: EnvironmentVariables): StaffLdapConfig | null {
  const { value, roles } = parse(text);
  return roles && isLdapSetting(value) && value.bind_password
    ? { setting: value, bindPassword: value.bind_password, roles }
    : null;
}

function parse(text: string | undefined): { value: JsonObject | null; roles: Roles | null } {
  const parsed = parseJson(text ?? '');
  if (!isJsonObject(parsed)) return { value: null, roles: null };
  const { roles = {}, ...value } = parsed;
  return { value, roles: toRoles(roles) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** False for plain HTTP to another machine. */
function isSafe(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || LOOPBACK.includes(hostname);
}

/** Null for a value of another form. */
function toRoles(value: unknown): Roles | null {
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
