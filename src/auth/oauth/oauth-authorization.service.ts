/**
 * The way of an application to a user's approval (OAuth 2.1). The request travels through the browser, encrypted, to the page of
 * the project's own application that asks the user; a row is stored once a signed-in user sees it. Strangers store nothing.
 */
import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { invalidCredentials } from '../../access/access.errors';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, type ServerConfig } from '../../config/app-config';
import type { Sender } from '../../identity/request-origin';
import { newSecretToken } from '../../identity/secret-token';
import { SecretBox } from '../../infra/crypto/secret-box';
import { discoveryIssuerOf } from '../../projects/issuer';
import type { Project } from '../../projects/project';
import { AccountRepository } from '../accounts/account.repository';
import type { SessionOwner } from '../accounts/account-statements';
import { byUser } from '../audit/audit-entry';
import { isPublic, MAX_SCOPE, type OAuthClient, scopesOf } from './oauth-client';
import { OAuthClients } from './oauth-clients.service';
import { type Grant, OAuthGrantRepository } from './oauth-grant.repository';
import {
  authorizationNotFound,
  grantNotFound,
  oauthFault,
  OAuthError,
  oauthServerDisabled,
  unknownClient,
  unknownRedirect,
} from './oauth.errors';

/** Milliseconds in which the user must answer. */
const REQUEST_MS = 10 * 60_000;
/** Milliseconds in which the client must exchange the code. */
const CODE_MS = 60_000;
/** Characters: with the address, these fit into a header of 8 KiB after encryption. */
const MAX_STATE = 1_000;
const MAX_NONCE = 500;
const MAX_SEALED = 6_000;
/** SHA-256 in base64url. `plain` would show the verifier to everybody who sees the request. */
const CHALLENGE = /^[\w-]{43}$/;

const PURPOSE = 'oauth-authorization';
const DEFAULT_SCOPE = 'email';

export const AUTHORIZE_PARAMETERS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'nonce',
  'prompt',
  'code_challenge',
  'code_challenge_method',
] as const;

/** The query of a request; null where a parameter is absent or repeated. */
export type AuthorizeQuery = Readonly<Record<(typeof AUTHORIZE_PARAMETERS)[number], string | null>>;

interface AuthorizationRequest {
  readonly id: string;
  readonly until: number;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string | null;
  readonly nonce: string | null;
  readonly challenge: string;
}

/** What the user is asked; or the address of the client, if the user had agreed before. */
export type Details =
  | {
      readonly client: OAuthClient;
      readonly email: string;
      readonly redirectUri: string;
      readonly scope: string;
    }
  | { readonly redirectTo: string };

@Injectable()
export class OAuthAuthorizations {
  constructor(
    private readonly clients: OAuthClients,
    private readonly rows: OAuthGrantRepository,
    private readonly accounts: AccountRepository,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  /** @returns the page that asks the user, or the address of the client with an error @throws AppError 400, 404 */
  async begin(project: Project, query: AuthorizeQuery): Promise<string> {
    this.clients.assertEnabled(project);
    const client = await this.clients.find(project, query.client_id ?? '');
    if (!client) throw unknownClient();
    const redirectUri = query.redirect_uri ?? '';
    if (!client.redirectUris.includes(redirectUri)) throw unknownRedirect();
    const { state } = query;
    try {
      const asked = this.readRequest(project, query);
      const request = { id: randomUUID(), clientId: client.id, redirectUri, state, ...asked };
      const url = new URL(consentPageOf(project));
      url.searchParams.set('authorization_id', new SecretBox(project.dataSecret).sealToken(request, PURPOSE));
      return url.href;
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const fault = { error: error.code, error_description: error.message };
      return this.addressOf(
        project,
        { redirectUri, state: (state?.length ?? 0) > MAX_STATE ? null : state },
        fault,
      );
    }
  }

  /** @throws AppError 401, 404 */
  async details(from: Sender, owner: SessionOwner, sealed: string): Promise<Details> {
    const { request, client } = await this.open(from.project, sealed);
    const { redirectUri, scope } = request;
    const row = { id: request.id, clientId: client.id, expiresAt: new Date(request.until) };
    const opened = await this.rows.open(from.project, owner, row, this.clock.date());
    if (opened === null) throw invalidCredentials();
    if (opened === false) throw authorizationNotFound();
    if (
      covers(opened.granted, scope) &&
      provesItself(client, redirectUri) &&
      (await this.accounts.isStrong(from.project, owner))
    )
      return { redirectTo: await this.grant(from, owner, request) };
    return { client, email: opened.email, redirectUri, scope };
  }

  /** @returns the address of the client, with a code @throws AppError 401, 403, 404 */
  async approve(from: Sender, owner: SessionOwner, sealed: string): Promise<string> {
    const { request } = await this.open(from.project, sealed);
    // An application gets what the account has.
    await this.accounts.assertStrong(from.project, owner);
    return this.grant(from, owner, request);
  }

  /** @returns the address of the client, with an error @throws AppError 404 */
  async deny(project: Project, owner: SessionOwner, sealed: string): Promise<string> {
    const { request } = await this.open(project, sealed);
    if (!(await this.rows.deny(project, owner, request.id, this.clock.date()))) throw authorizationNotFound();
    const fault = { error: 'access_denied', error_description: 'The user refused' };
    return this.addressOf(project, request, fault);
  }

  /** @throws AppError 401, 404 */
  async grants(project: Project, owner: SessionOwner): Promise<Grant[]> {
    this.clients.assertEnabled(project);
    const grants = await this.rows.grants(project, owner, this.clock.date());
    if (!grants) throw invalidCredentials();
    return grants;
  }

  /** @throws AppError 401, 404 */
  async revoke({ project, origin }: Sender, owner: SessionOwner, clientId: string): Promise<void> {
    this.clients.assertEnabled(project);
    if (!UUID.test(clientId)) throw grantNotFound();
    const context = { now: this.clock.date(), origin, details: { client_id: clientId } };
    const entry = byUser('oauth_grant_revoked', owner.userId, context);
    const isRevoked = await this.rows.revoke(project, owner, clientId, entry);
    if (isRevoked === null) throw invalidCredentials();
    if (!isRevoked) throw grantNotFound();
  }

  /** @throws OAuthError, which the client gets at its address */
  private readRequest(
    project: Project,
    query: AuthorizeQuery,
  ): Pick<AuthorizationRequest, 'until' | 'scope' | 'nonce' | 'challenge'> {
    const { state, nonce, code_challenge: challenge } = query;
    if (query.response_type !== 'code')
      throw oauthFault('unsupported_response_type', 'response_type must be code');
    if (query.response_mode !== null && query.response_mode !== 'query')
      throw oauthFault('invalid_request', 'response_mode must be query');
    if (query.code_challenge_method !== 'S256' || !CHALLENGE.test(challenge ?? ''))
      throw oauthFault('invalid_request', 'code_challenge is required, with code_challenge_method=S256');
    if ((state?.length ?? 0) > MAX_STATE || (nonce?.length ?? 0) > MAX_NONCE)
      throw oauthFault(
        'invalid_request',
        `state has at most ${MAX_STATE} characters, and nonce ${MAX_NONCE}`,
      );
    if (query.prompt === 'none') throw oauthFault('interaction_required', 'The user must be asked');
    if (project.settings.oauth_consent_url === null)
      throw oauthFault('server_error', 'The project has no page that asks the user');
    const scope = readScope(project, query.scope ?? DEFAULT_SCOPE);
    return { until: this.clock.now() + REQUEST_MS, scope, nonce, challenge: challenge ?? '' };
  }

  /** Makes a code. */
  private async grant(
    { project, origin }: Sender,
    owner: SessionOwner,
    request: AuthorizationRequest,
  ): Promise<string> {
    const { token: code, hash: codeHash } = newSecretToken();
    const { clientId, scope } = request;
    const expiresAt = new Date(this.clock.now() + CODE_MS);
    const context = { now: this.clock.date(), origin, details: { client_id: clientId, scope } };
    const entry = byUser('oauth_approved', owner.userId, context);
    const isApproved = await this.rows.approve(project, owner, { ...request, codeHash, expiresAt }, entry);
    if (!isApproved) throw authorizationNotFound();
    return this.addressOf(project, request, { code });
  }

  /** With the issuer, so that a client of several servers cannot mix them up (RFC 9207). */
  private addressOf(
    { slug }: Project,
    { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
    result: Readonly<Record<string, string>>,
  ): string {
    const url = new URL(redirectUri);
    const iss = discoveryIssuerOf(this.server.publicUrl, slug);
    const parameters = { ...result, ...(state === null ? {} : { state }), iss };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /** @throws AppError 404 */
  private async open(
    project: Project,
    sealed: string,
  ): Promise<{ request: AuthorizationRequest; client: OAuthClient }> {
    this.clients.assertEnabled(project);
    const box = new SecretBox(project.dataSecret);
    const request = sealed.length > MAX_SEALED ? null : box.openToken<AuthorizationRequest>(sealed, PURPOSE);
    if (!request || request.until <= this.clock.now()) throw authorizationNotFound();
    const client = await this.clients.find(project, request.clientId);
    // The address may have been taken from the client since.
    if (!client?.redirectUris.includes(request.redirectUri)) throw authorizationNotFound();
    return { request, client };
  }
}

/** @throws AppError 404 */
function consentPageOf({ settings: { oauth_consent_url: page } }: Project): string {
  if (page === null) throw oauthServerDisabled();
  return page;
}

/** @returns the scopes in one order, each once @throws OAuthError */
function readScope(project: Project, text: string): string {
  const known = scopesOf(project);
  const wanted = text.length > MAX_SCOPE ? [] : text.split(' ').filter(Boolean);
  const unknown = wanted.find((scope) => !known.includes(scope));
  if (wanted.length === 0 || unknown !== undefined)
    throw oauthFault('invalid_scope', `scope must be some of ${known.join(', ')}`);
  return known.filter((scope) => wanted.includes(scope)).join(' ');
}

const covers = (granted: string | null, scope: string): boolean =>
  granted !== null && scope.split(' ').every((one) => granted.split(' ').includes(one));

/** Any program on a computer can use the addresses of a public client there, so its user is asked each time (RFC 8252, 8.6). */
const provesItself = (client: OAuthClient, redirectUri: string): boolean =>
  !isPublic(client) || redirectUri.startsWith('https://');
