/** Tokens of applications: a session of the user that belongs to the client, ID tokens, and what `userinfo` tells. */
import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { invalidCredentials } from '../../access/access.errors';
import { AppError } from '../../common/errors/app-error';
import type { JsonObject } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, type ServerConfig } from '../../config/app-config';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import type { Sender } from '../../identity/request-origin';
import { hashToken } from '../../identity/secret-token';
import { equalSecrets } from '../../infra/crypto/constant-time';
import { discoveryIssuerOf } from '../../projects/issuer';
import type { Project } from '../../projects/project';
import { signUserToken } from '../../projects/project-keys';
import type { Account } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import { byAnonymous } from '../audit/audit-entry';
import { isVerifierOf } from '../codes/pkce';
import { APPLICATION_METHOD } from '../../access/caller';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionService } from '../sessions/session.service';
import { SessionStarter } from '../sessions/session-starter.service';
import { type GrantType, isOpenId, type OAuthClient } from './oauth-client';
import { type ClientProof, OAuthClients } from './oauth-clients.service';
import { OAuthGrantRepository, type SpentCode } from './oauth-grant.repository';
import { invalidGrant, oauthFault } from './oauth.errors';

/** Seconds. */
const ID_TOKEN_LIFETIME = 3_600;
/** Characters of an address of a picture. */
const MAX_PICTURE = 2_000;

export interface CodeGrant {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string | null;
}

export interface OAuthTokenAnswer {
  readonly session: SignedIn['session'];
  readonly scope?: string;
  readonly idToken?: string;
  /** The client may not refresh it. */
  readonly isLast: boolean;
}

@Injectable()
export class OAuthTokens {
  constructor(
    private readonly clients: OAuthClients,
    private readonly rows: OAuthGrantRepository,
    private readonly accounts: AccountRepository,
    private readonly starter: SessionStarter,
    private readonly sessions: SessionService,
    private readonly throttle: GuessThrottle,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  /** The first attempt spends a code. @throws AppError 400, 401, 404, 429, 500 */
  async exchange(from: Sender, proof: ClientProof, grant: CodeGrant): Promise<OAuthTokenAnswer> {
    const client = await this.clientFor(from, proof, 'authorization_code');
    const spent = await this.throttle.attemptOrThrow(from, () => this.spend(from, client, grant));
    const session = await this.start(from, spent, sessionIdOf(grant.code));
    const idToken = isOpenId(from.project, spent.scope) ? await this.idToken(from.project, spent) : undefined;
    return { session: session.session, scope: spent.scope, idToken, isLast: !mayRefresh(client) };
  }

  /** @throws AppError 400, 401, 404, 429, 500 */
  async refresh(from: Sender, proof: ClientProof, refreshToken: string): Promise<OAuthTokenAnswer> {
    const client = await this.clientFor(from, proof, 'refresh_token');
    const { session } = await this.sessions.refresh(from, refreshToken, client.id).catch((error: unknown) => {
      throw error instanceof AppError && error.code === 'invalid_refresh_token' ? invalidGrant() : error;
    });
    return { session, isLast: false };
  }

  /**
   * Claims of OpenID Connect for the scopes of the session; only `sub` for a token that belongs to no application. @throws
   * AppError 401
   */
  async userInfo(
    project: Project,
    { userId, sessionId }: { readonly userId: string; readonly sessionId: string | null },
  ): Promise<JsonObject> {
    const account = await this.accounts.findLive(project, userId, sessionId, this.clock.date());
    if (!account) throw invalidCredentials();
    const scope = sessionId === null ? null : await this.rows.scopeOf(project, sessionId);
    return claimsOf(account, scope ?? '');
  }

  private async clientFor(from: Sender, proof: ClientProof, grantType: GrantType): Promise<OAuthClient> {
    this.clients.assertEnabled(from.project);
    const client = await this.clients.authenticate(from, proof);
    if (!client.grantTypes.includes(grantType))
      throw oauthFault('unauthorized_client', `The client may not use ${grantType}`);
    return client;
  }

  private async spend(
    { project, origin }: Sender,
    client: OAuthClient,
    { code, verifier, redirectUri }: CodeGrant,
  ): Promise<SpentCode> {
    const hash = hashToken(code);
    const now = this.clock.date();
    const spent = await this.rows.spend(project, hash, now);
    if (!spent) {
      const context = { now, origin, details: { client_id: client.id } };
      const entry = byAnonymous('oauth_code_reused', null, context);
      await this.rows.endSessionOf(project, hash, sessionIdOf(code), entry);
      throw invalidGrant();
    }
    const isRight =
      equalSecrets(spent.clientId, client.id) &&
      isVerifierOf({ challenge: spent.challenge, method: 's256' }, verifier) &&
      (redirectUri === null || redirectUri === spent.redirectUri);
    if (!isRight) throw invalidGrant();
    return spent;
  }

  private async start(
    from: Sender,
    { id: authorizationId, userId, clientId, scope, aal, amr }: SpentCode,
    sessionId: string,
  ): Promise<SignedIn> {
    const credentials = await this.accounts.findCredentialsById(from.project, userId);
    const grant = { sessionId, authorizationId, clientId, scope, aal, amr };
    const session = credentials && (await this.starter.start(from, credentials, APPLICATION_METHOD, grant));
    if (!session) throw invalidGrant();
    return session;
  }

  /** It has no `role`, so it is not accepted as a bearer token of the project. */
  private async idToken(
    project: Project,
    { userId, clientId, scope, nonce, signedInAt }: SpentCode,
  ): Promise<string> {
    const credentials = await this.accounts.findCredentialsById(project, userId);
    if (!credentials) throw invalidGrant();
    const now = this.clock.nowSeconds();
    return signUserToken(project, {
      ...claimsOf(credentials.account, scope),
      iss: discoveryIssuerOf(this.server.publicUrl, project.slug),
      aud: clientId,
      iat: now,
      exp: now + ID_TOKEN_LIFETIME,
      auth_time: Math.floor(signedInAt.getTime() / 1_000),
      ...(nonce === null ? {} : { nonce }),
    });
  }
}

const mayRefresh = ({ grantTypes }: OAuthClient): boolean => grantTypes.includes('refresh_token');

/** A code gives one session, whose id is a hash of the code (version 8 of RFC 9562), so that the code alone finds it. */
function sessionIdOf(code: string): string {
  const hex = createHash('sha256').update(`oauth session:${code}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** OpenID Connect Core, 5.1 and 5.4. */
function claimsOf(account: Account, scope: string): JsonObject {
  const { id, email, phone, name, data, emailVerifiedAt, phoneVerifiedAt, updatedAt } = account;
  const scopes = scope.split(' ');
  const picture = [data.picture, data.avatar_url].find((one) => typeof one === 'string');
  return {
    sub: id,
    ...(scopes.includes('email') && email !== '' ? { email, email_verified: emailVerifiedAt !== null } : {}),
    ...(scopes.includes('phone') && phone !== null
      ? { phone_number: `+${phone}`, phone_number_verified: phoneVerifiedAt !== null }
      : {}),
    ...(scopes.includes('profile')
      ? {
          ...(name === '' ? {} : { name }),
          ...(typeof picture === 'string' && picture.length <= MAX_PICTURE ? { picture } : {}),
          updated_at: Math.floor(updatedAt.getTime() / 1_000),
        }
      : {}),
  };
}
