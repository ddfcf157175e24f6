/** The LDAP directory where users of a project sign in. */
import { ValidateBy } from 'class-validator';
import { isLdapSetting, LDAP_TEXTS, type LdapSetting } from '../../config/ldap-setting';
import type { Setting } from './setting';

const TEXT = { type: 'string' } as const;

export const ldap: Setting<LdapSetting | null> = {
  fallback: null,
  fallbackText: 'none',
  description: 'Directory of LDAP or Active Directory where users sign in',
  details:
    '`{url, bind_dn, bind_password, base_dn, ...}`; the password is never shown ([auth](auth.md#ldap-and-active-directory)).',
  schema: {
    type: 'object',
    properties: {
      ...Object.fromEntries([...LDAP_TEXTS, 'ca'].map((name) => [name, TEXT])),
      attribute_mapping: { type: 'object', additionalProperties: true },
      domains: { type: 'array', items: TEXT },
    },
  },
  checks: [
    ValidateBy({
      name: 'isLdap',
      validator: {
        validate: isLdapSetting,
        defaultMessage: () =>
          'ldap must be {url, bind_dn, bind_password, base_dn} with an address ldaps://host or ldap://host, and filters with {login} and {dn}',
      },
    }),
  ],
};
