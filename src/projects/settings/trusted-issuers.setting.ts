/** Issuers whose tokens a project accepts as bearer tokens: its own identity provider. */
import { ArrayMaxSize, isURL, ValidateBy } from 'class-validator';
import { isJsonObject } from '../../common/text/json';
import type { Setting } from './setting';

export interface TrustedIssuer {
  /** Exactly the `iss` of its tokens. */
  readonly issuer: string;
  readonly jwks_url: string;
  /** One of the audiences of its tokens. */
  readonly audience: string;
  /** A name, or a path with dots. Absent: every token has the role `authenticated`. */
  readonly role_claim?: string;
  /** Values of the claim that are taken as roles. */
  readonly roles?: readonly string[];
}

const MAX_ISSUERS = 10;
const MAX_TEXT = 1_000;
const MAX_ROLES = 50;
const MEMBERS = new Set(['issuer', 'jwks_url', 'audience', 'role_claim', 'roles']);
/** No issuer can give the rights of the project's own server. */
const REFUSED_ROLES = new Set(['service_role', 'none', 'public']);

const isText = (value: unknown, most = MAX_TEXT): value is string =>
  typeof value === 'string' && value !== '' && value.length <= most && !/\p{Cc}/u.test(value);

function isTrustedIssuer(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { issuer, jwks_url: url, audience, role_claim: claim, roles } = value;
  const isUrl =
    isText(url) &&
    isURL(url, {
      require_tld: false,
      require_protocol: true,
      protocols: ['https', 'http'],
      disallow_auth: true,
    });
  const hasRoles =
    (claim === undefined) === (roles === undefined) &&
    (claim === undefined || isText(claim, 200)) &&
    (roles === undefined ||
      (Array.isArray(roles) && roles.length > 0 && roles.length <= MAX_ROLES && roles.every(isRole)));
  return (
    isText(issuer) &&
    isText(audience) &&
    isUrl &&
    hasRoles &&
    Object.keys(value).every((name) => MEMBERS.has(name))
  );
}

const isRole = (role: unknown): boolean => isText(role, 63) && !REFUSED_ROLES.has(role);

const isTrustedIssuers = (value: unknown): boolean => {
  if (!Array.isArray(value) || !value.every(isTrustedIssuer)) return false;
  return new Set((value as readonly TrustedIssuer[]).map(({ issuer }) => issuer)).size === value.length;
};

export const trustedIssuers: Setting<readonly TrustedIssuer[]> = {
  fallback: [],
  fallbackText: 'none',
  description: 'Issuers whose tokens are accepted as bearer tokens of table REST and storage',
  details:
    '`[{issuer, jwks_url, audience, role_claim, roles}]`; `role_claim` and `roles` together or not at all; never `service_role` ([auth](auth.md#tokens-of-other-issuers)).',
  schema: {
    type: 'array',
    maxItems: MAX_ISSUERS,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['issuer', 'jwks_url', 'audience'],
      properties: {
        issuer: { type: 'string' },
        jwks_url: { type: 'string', format: 'uri' },
        audience: { type: 'string' },
        role_claim: { type: 'string' },
        roles: { type: 'array', items: { type: 'string' } },
      },
    },
  },
  checks: [
    ArrayMaxSize(MAX_ISSUERS),
    ValidateBy({
      name: 'isTrustedIssuers',
      validator: {
        validate: isTrustedIssuers,
        defaultMessage: () =>
          'trusted_issuers must be a list of different {issuer, jwks_url, audience}, with role_claim and roles or without both; an issuer cannot give service_role',
      },
    }),
  ],
};
