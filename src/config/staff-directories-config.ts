/** Sign-in of staff by SAML 2.0 (STAFF_SAML) and LDAP (STAFF_LDAP): one JSON object each. */
import { isAbsolute } from 'node:path';
import { isJsonObject, type JsonObject, parseJson } from '../common/text/json';
import type { StaffLdapConfig, StaffSamlConfig } from './app-config';
import type { EnvironmentVariables } from './env.schema';
import { isLdapSetting } from './ldap-setting';
import { isSafe, toRoles } from './oidc-config';

const SAML_EXAMPLE =
  '{"metadata": "https://id.example.com/metadata", "domains": ["example.com"], "roles": {"platform": {"role": "operator"}}}';
const LDAP_EXAMPLE =
  '{"url": "ldaps://dc.example.com", "bind_dn": "cn=plinth,dc=example,dc=com", "bind_password": "...", "base_dn": "dc=example,dc=com", "group_filter": "(member={dn})", "roles": {"platform": {"role": "operator"}}}';

export function staffDirectoryFaults(env: EnvironmentVariables): string[] {
  return [
    ...(env.STAFF_SAML && !staffSamlConfig(env) ? [`STAFF_SAML must be JSON such as ${SAML_EXAMPLE}`] : []),
    ...(env.STAFF_LDAP && !staffLdapConfig(env) ? [`STAFF_LDAP must be JSON such as ${LDAP_EXAMPLE}`] : []),
  ];
}

/** Null without SAML, and for a text of another form. */
export function staffSamlConfig({ STAFF_SAML: text }: EnvironmentVariables): StaffSamlConfig | null {
  const { value, roles } = parse(text);
  if (!value || !roles) return null;
  const { metadata, domains = [], attribute_mapping: mapping = null, ...others } = value;
  const isKnown =
    typeof metadata === 'string' &&
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

function parse(text: string | undefined): {
  value: JsonObject | null;
  roles: StaffSamlConfig['roles'] | null;
} {
  const parsed = parseJson(text ?? '');
  if (!isJsonObject(parsed)) return { value: null, roles: null };
  const { roles = {}, ...value } = parsed;
  return { value, roles: toRoles(roles) };
}
