/** Providers with which users of a project sign in, and their presets. Rows are checked: the owner may have written anything. */
import type { QueryResultRow } from 'pg';
import type { JsonObject } from '../../common/text/json';
import { RecordReader } from '../../database/rows/record-reader';
import { invalidParameters } from '../../common/errors/app-error';

export const PRESETS = [
  'oidc',
  'google',
  'azure',
  'apple',
  'github',
  'gitlab',
  'keycloak',
  'okta',
  'auth0',
] as const;
export type Preset = (typeof PRESETS)[number];

export const PROVIDER_NAME = /^[a-z][a-z0-9_:-]{0,62}$/;
/** Names of other ways to sign in, which GoTrue reports as providers too. */
const RESERVED = [
  'email',
  'phone',
  'anonymous',
  'anonymous_users',
  'magic_link',
  'web3',
  'sso',
  'saml',
  'ldap',
];

/** Characters. */
export const MAX_URL = 1_000;
export const MAX_CLIENT_ID = 500;
export const MAX_SCOPES = 500;
export const MAX_CLIENT_IDS = 20;
const MAX_SEALED = 16_384;
const MAX_SETTINGS = 64 * 1024;

export interface ProviderSettings {
  readonly client_id: string;
  /** For `oidc` and `keycloak`, and for `gitlab` and `github` on a separate server. */
  readonly issuer: string | null;
  /** For `azure`: the id of the directory. */
  readonly tenant: string | null;
  /** For `okta` and `auth0`. */
  readonly domain: string | null;
  /** Separated by spaces; null: the scopes of the preset. */
  readonly scopes: string | null;
  /** Ids of further clients, such as mobile applications, whose ID tokens are accepted. */
  readonly additional_client_ids: readonly string[];
}

export const NO_SETTINGS: ProviderSettings = {
  client_id: '',
  issuer: null,
  tenant: null,
  domain: null,
  scopes: null,
  additional_client_ids: [],
};

export interface Provider {
  readonly name: string;
  readonly preset: Preset;
  readonly enabled: boolean;
  readonly settings: ProviderSettings;
  readonly sealedSecret: Buffer | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface PresetRule {
  readonly scopes: string;
  /** How the secret is sent. */
  readonly authentication?: 'basic' | 'post';
  /** Parameters of the authorization request. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** @throws AppError 400 for settings that do not determine the issuer */
  issuerOf(settings: ProviderSettings): string;
}

const OIDC_SCOPES = 'openid email profile';
const GUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const DOMAIN = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

const required = (value: string | null, name: string, form?: RegExp): string => {
  if (value === null) throw invalidParameters(`${name} is required for this preset`);
  if (form && !form.test(value)) throw invalidParameters(`${name} is not valid`);
  return value;
};

export const PRESET_RULES: Readonly<Record<Preset, PresetRule>> = {
  oidc: { scopes: OIDC_SCOPES, issuerOf: ({ issuer }) => required(issuer, 'issuer') },
  google: { scopes: OIDC_SCOPES, issuerOf: () => 'https://accounts.google.com' },
  // Requires an id: with `common`, any directory could claim any address.
  azure: {
    scopes: OIDC_SCOPES,
    issuerOf: ({ tenant }) => `https://login.microsoftonline.com/${required(tenant, 'tenant', GUID)}/v2.0`,
  },
  apple: {
    scopes: 'openid email name',
    authentication: 'post',
    parameters: { response_mode: 'form_post' },
    issuerOf: () => 'https://appleid.apple.com',
  },
  github: {
    scopes: 'read:user user:email',
    authentication: 'post',
    issuerOf: ({ issuer }) => issuer ?? 'https://github.com',
  },
  gitlab: { scopes: OIDC_SCOPES, issuerOf: ({ issuer }) => issuer ?? 'https://gitlab.com' },
  keycloak: { scopes: OIDC_SCOPES, issuerOf: ({ issuer }) => required(issuer, 'issuer') },
  okta: { scopes: OIDC_SCOPES, issuerOf: ({ domain }) => `https://${required(domain, 'domain', DOMAIN)}` },
  auth0: { scopes: OIDC_SCOPES, issuerOf: ({ domain }) => `https://${required(domain, 'domain', DOMAIN)}/` },
};

export const issuerOf = ({ preset, settings }: Pick<Provider, 'preset' | 'settings'>): string =>
  PRESET_RULES[preset].issuerOf(settings);

/** Names that begin with `sso:` belong to SAML identity providers. */
export const isReserved = (name: string): boolean => RESERVED.includes(name) || name.startsWith('sso:');

export const PROVIDER_COLUMNS =
  'p.name, p.preset, p.enabled, p.settings::text as settings, p.sealed_secret, p.created_at, p.updated_at';

/** @param row with PROVIDER_COLUMNS @throws AppError 500 for a value that the column cannot hold */
export function toProvider(row: QueryResultRow): Provider {
  const record = new RecordReader('auth.providers', row);
  return {
    name: record.text('name', 63),
    preset: record.oneOf('preset', PRESETS),
    enabled: record.boolean('enabled'),
    settings: toSettings(record),
    sealedSecret: record.bytesOrNull('sealed_secret', MAX_SEALED),
    createdAt: record.date('created_at'),
    updatedAt: record.date('updated_at'),
  };
}

function toSettings(record: RecordReader): ProviderSettings {
  const stored: JsonObject = record.jsonObject('settings', MAX_SETTINGS);
  const textOf = (name: string, most: number): string | null => {
    const value = stored[name] ?? null;
    if (value === null) return null;
    if (typeof value === 'string' && value.length <= most) return value;
    throw record.unusable('settings', `an object whose ${name} is a text of at most ${most} characters`);
  };
  const ids = stored.additional_client_ids ?? [];
  const areTexts = Array.isArray(ids) && ids.length <= MAX_CLIENT_IDS;
  if (!areTexts || ids.some((id) => typeof id !== 'string' || id.length > MAX_CLIENT_ID))
    throw record.unusable('settings', 'an object whose additional_client_ids are texts');
  const issuer = textOf('issuer', MAX_URL);
  if (issuer !== null && !URL.canParse(issuer))
    throw record.unusable('settings', 'an object whose issuer is an address');
  return {
    client_id: textOf('client_id', MAX_CLIENT_ID) ?? '',
    issuer,
    tenant: textOf('tenant', 100),
    domain: textOf('domain', 253),
    scopes: textOf('scopes', MAX_SCOPES),
    additional_client_ids: ids as string[],
  };
}
