/** A directory of LDAP where people sign in: of a project (setting `ldap`), or of the installation (STAFF_SIGN_IN). */
import { isURL } from 'class-validator';
import { isJsonObject } from '../common/text/json';

export interface LdapSetting {
  /** `ldaps://host`, or `ldap://host` with StartTLS. */
  readonly url: string;
  readonly bind_dn: string;
  /** Plain in a request, encrypted in a stored setting, and never in a response. */
  readonly bind_password?: string;
  readonly base_dn: string;
  readonly ca?: string;
  /** `{login}` stands for the login that the user enters. */
  readonly user_filter?: string;
  /** Never changes for a user. */
  readonly id_attribute?: string;
  readonly group_base_dn?: string;
  /** `{dn}` stands for the entry of the user. Absent: groups are an attribute of the user, or not read. */
  readonly group_filter?: string;
  readonly group_attribute?: string;
  /** In the same form as for SAML. */
  readonly attribute_mapping?: object;
  /** Domains whose addresses the directory proves. */
  readonly domains?: readonly string[];
}

const MAX_TEXT = 1_000;
const MAX_CA = 64 * 1024;
const REQUIRED = ['url', 'bind_dn', 'base_dn'];
const OPTIONAL = [
  'bind_password',
  'user_filter',
  'id_attribute',
  'group_base_dn',
  'group_filter',
  'group_attribute',
];
export const LDAP_TEXTS = [...REQUIRED, ...OPTIONAL];
const ATTRIBUTE = /^[A-Za-z][A-Za-z0-9-]{0,99}$/;
const URL_OPTIONS = {
  require_tld: false,
  require_protocol: true,
  protocols: ['ldap', 'ldaps'],
  disallow_auth: true,
  allow_fragments: false,
  allow_query_components: false,
};

const isText = (value: unknown, most = MAX_TEXT): value is string =>
  typeof value === 'string' && value !== '' && value.length <= most;

export function isLdapSetting(value: unknown): value is LdapSetting {
  if (!isJsonObject(value)) return false;
  const { ca, attribute_mapping: mapping, domains = [], ...texts } = value;
  const names = Object.keys(texts);
  const textOf = (name: string): string | null => {
    const text = texts[name];
    return typeof text === 'string' ? text : null;
  };
  return (
    REQUIRED.every((name) => names.includes(name)) &&
    names.every((name) => LDAP_TEXTS.includes(name) && isText(texts[name])) &&
    isURL(textOf('url') ?? '', URL_OPTIONS) &&
    ATTRIBUTE.test(textOf('id_attribute') ?? 'id') &&
    ATTRIBUTE.test(textOf('group_attribute') ?? 'cn') &&
    isFilter(textOf('user_filter') ?? '({login})', '{login}') &&
    isFilter(textOf('group_filter') ?? '({dn})', '{dn}') &&
    (ca === undefined || isText(ca, MAX_CA)) &&
    (mapping === undefined || isJsonObject(mapping)) &&
    Array.isArray(domains) &&
    domains.length <= 100 &&
    domains.every((domain) => isText(domain, 253))
  );
}

const isFilter = (filter: string, placeholder: string): boolean =>
  /^\(.*\)$/s.test(filter) && filter.includes(placeholder);
