/** How staff sign in besides passwords: STAFF_SIGN_IN, a JSON object with the members oidc, saml and ldap. */
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

/** How staff sign in besides passwords; null: not in that way. */
interface StaffSignIn {
  readonly oidc: OidcConfig | null;
  readonly saml: StaffSamlConfig | null;
  readonly ldap: StaffLdapConfig | null;
}

const ROLES_EXAMPLE = '{"platform": {"role": "operator"}, "shop": {"projects": {"acme": "developer"}}}';
const OIDC_EXAMPLE = `{"issuer": "https://id.example.com/realms/acme", "client_id": "plinth", "client_secret": "...", "scopes": "openid email profile", "groups_claim": "groups", "roles": ${ROLES_EXAMPLE}}`;
const SAML_EXAMPLE = `{"metadata": "https://id.example.com/metadata", "domains": ["example.com"], "roles": ${ROLES_EXAMPLE}}`;
const LDAP_EXAMPLE = `{"url": "ldaps://dc.example.com", "bind_dn": "cn=plinth,dc=example,dc=com", "bind_password": "...", "base_dn": "dc=example,dc=com", "group_filter": "(member={dn})", "roles": ${ROLES_EXAMPLE}}`;

const EXAMPLES = { oidc: OIDC_EXAMPLE, saml: SAML_EXAMPLE, ldap: LDAP_EXAMPLE };

/** A setting with one member, for error messages. @param member an unknown one stands for oidc */
export function staffSetting(member: string): string {
  const name = Object.hasOwn(EXAMPLES, member) ? (member as keyof typeof EXAMPLES) : 'oidc';
  return `STAFF_SIGN_IN={"${name}": ${EXAMPLES[name]}}`;
}

export function staffFaults(env: EnvironmentVariables): string[] {
  const names = Object.keys(membersOf(env));
  const configs = new Map<string, object | null>(Object.entries(staffSignIn(env)));
  const isUnknown = env.STAFF_SIGN_IN !== undefined && names.length === 0;
  const wrong = isUnknown ? ['oidc'] : names.filter((name) => !configs.get(name));
  return wrong.map(
    (name) =>
      `STAFF_SIGN_IN must be JSON as in ${staffSetting(name)}; addresses are https, unless they are on this machine`,
  );
}

/** A member that is malformed is null. */
export function staffSignIn(env: EnvironmentVariables): StaffSignIn {
  const { oidc, saml, ldap } = membersOf(env);
  return { oidc: oidcConfig(oidc), saml: samlConfig(saml), ldap: ldapConfig(ldap) };
}

/** Empty if STAFF_SIGN_IN is not set or is not a JSON object. */
function membersOf({ STAFF_SIGN_IN: text }: EnvironmentVariables): JsonObject {
  const parsed = parseJson(text ?? '');
  return isJsonObject(parsed) ? parsed : {};
}

function oidcConfig(given: unknown): OidcConfig | null {
  const { value, roles } = withRoles(given);
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

function samlConfig(given: unknown): StaffSamlConfig | null {
  const { value, roles } = withRoles(given);
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

function ldapConfig(given: unknown): StaffLdapConfig | null {
  const { value, roles } = withRoles(given);
  return roles && isLdapSetting(value) && value.bind_password
    ? { setting: value, bindPassword: value.bind_password, roles }
    : null;
}

function withRoles(given: unknown): { value: JsonObject | null; roles: Roles | null } {
  if (!isJsonObject(given)) return { value: null, roles: null };
  const { roles = {}, ...value } = given;
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
