/** Applications that sign in with accounts of a project. Rows are checked: the owner may have written anything. */
import type { QueryResultRow } from 'pg';
import { invalidParameters } from '../../common/errors/app-error';
import { RecordReader } from '../../database/rows/record-reader';
import type { Project } from '../../projects/project';
import { parseRedirect } from '../codes/redirects';

/** How a client proves who it is (RFC 7591, 2). */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];
export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;
export type GrantType = (typeof GRANT_TYPES)[number];
export const REGISTRATIONS = ['manual', 'dynamic'] as const;
export type Registration = (typeof REGISTRATIONS)[number];

/** Scopes of OpenID Connect: what an ID token and `userinfo` contain. Policies decide which rows a client reads. */
const OPENID = 'openid';
const SCOPES = ['email', 'profile', 'phone', 'offline_access'];
/** ID tokens need a key pair: a client cannot verify a token that is signed with the project's secret. */
export const scopesOf = ({ signingKeys }: Pick<Project, 'signingKeys'>): string[] =>
  signingKeys.some(({ status }) => status === 'current') ? [OPENID, ...SCOPES] : SCOPES;
/** Whether an ID token is wanted, and can be given. */
export const isOpenId = (project: Project, scope: string): boolean =>
  scope.split(' ').includes(OPENID) && scopesOf(project).includes(OPENID);

export const MAX_REDIRECT_URIS = 10;
/** Characters of an address. */
export const MAX_URI = 1_000;
export const MAX_CLIENT_NAME = 200;
export const MAX_SCOPE = 200;

export interface OAuthClient {
  readonly id: string;
  readonly name: string;
  /** Null: a public client, which has no secret. */
  readonly secretHash: Buffer | null;
  readonly authMethod: AuthMethod;
  readonly registration: Registration;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly GrantType[];
  readonly uri: string | null;
  readonly logoUri: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Absent members keep their values, or get defaults. */
export interface ClientInput {
  readonly name?: string;
  readonly uri?: string;
  readonly logoUri?: string;
  readonly redirectUris?: readonly string[];
  readonly grantTypes?: readonly GrantType[];
  readonly authMethod?: AuthMethod;
  readonly type?: 'public' | 'confidential';
}

export const CLIENT_COLUMNS = `c.id, c.name, c.secret_hash, c.auth_method, c.registration,
  pg_catalog.array_to_string(c.redirect_uris, ' ') as redirect_uris,
  pg_catalog.array_to_string(c.grant_types, ' ') as grant_types, c.client_uri, c.logo_uri, c.created_at, c.updated_at`;

/** @throws AppError 500 for a value that the column cannot hold */
export function toClient(row: QueryResultRow): OAuthClient {
  const client = new RecordReader('auth.oauth_clients', row);
  const uris = client.text('redirect_uris', (MAX_URI + 1) * MAX_REDIRECT_URIS).split(' ');
  const grants = client.text('grant_types', 100).split(' ');
  return {
    id: client.uuid('id'),
    name: client.text('name', 2 * MAX_CLIENT_NAME),
    secretHash: client.bytesOrNull('secret_hash', 32),
    authMethod: client.oneOf('auth_method', AUTH_METHODS),
    registration: client.oneOf('registration', REGISTRATIONS),
    redirectUris: uris.filter((uri) => redirectUriFault(uri) === null),
    grantTypes: GRANT_TYPES.filter((type) => grants.includes(type)),
    uri: client.textOrNull('client_uri', MAX_URI),
    logoUri: client.textOrNull('logo_uri', MAX_URI),
    createdAt: client.date('created_at'),
    updatedAt: client.date('updated_at'),
  };
}

export const isPublic = ({ secretHash }: OAuthClient): boolean => secretHash === null;

/** The name of this computer itself, where a native application listens (RFC 8252, 7.3). */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * OAuth 2.1, 2.3: absolute, without a fragment, and encrypted unless it stays on the computer. @returns null for an acceptable
 * address
 */
function redirectUriFault(uri: string): string | null {
  const url = uri.length > MAX_URI || uri.includes('#') ? null : parseRedirect(uri);
  if (!url) return 'must be absolute, without a fragment, a password and blanks';
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    return 'must use https, unless it is of localhost';
  return null;
}

/** @throws AppError 400 */
export function assertRedirectUris(uris: readonly string[]): void {
  if (uris.length === 0) throw invalidParameters('redirect_uris is required');
  for (const uri of uris) {
    const fault = redirectUriFault(uri);
    if (fault !== null)
      throw invalidParameters(`redirect_uris: ${JSON.stringify(uri.slice(0, 200))} ${fault}`);
  }
}

/** The method of a new client. @throws AppError 400 for a type that contradicts it */
export function authMethodOf({ authMethod, type }: ClientInput): AuthMethod {
  const method = authMethod ?? (type === 'public' ? 'none' : 'client_secret_basic');
  if (type !== undefined && (type === 'public') !== (method === 'none'))
    throw invalidParameters(`token_endpoint_auth_method ${method} does not fit client_type ${type}`);
  return method;
}
