/** The Authorization header: authenticates the user, with the secret of the project that the apikey named. */
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import { JsonObject } from '../../common/text/json';
import { ANON_ROLE, SERVICE_ROLE } from '../../projects/project-keys';
import { untimelyCredentials } from '../access.errors';
import { bearerToken } from '../bearer-token';
import { Caller, TWO_FACTORS } from '../caller';
import { claimsText } from '../claims-text';
import { IssuerTokens } from '../issuer-tokens.service';
import { readToken, TokenForm } from '../token-form';
import { TokenVerifier } from '../token-verifier';
import { VerifiedApiKey } from './api-key.strategy';
import { passportSecret, PINNED_VERIFICATION } from './verification';
import { UUID } from '../../common/text/uuid';

@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(
    private readonly tokens: TokenVerifier,
    private readonly issuers: IssuerTokens,
  ) {
    super({
      ...PINNED_VERIFICATION,
      jwtFromRequest: (request: Request) => bearerToken(request.get('authorization')),
      secretOrKeyProvider: (
        request: Request,
        token: string,
        done: (error: unknown, secret?: string) => void,
      ) => {
        const secret = request.apiKey ? this.tokens.secretFor(request.apiKey.project, token) : null;
        done(secret === null ? new Error('not signed by the project') : null, passportSecret(secret));
      },
    });
  }

  /**
   * Verifies a token that names a key pair of the project, or comes from an issuer that the project trusts.
   * @returns null for any other token; false if the token is invalid
   */
  async verifyWithPublicKey(apiKey: VerifiedApiKey, token: string): Promise<Caller | false | null> {
    const pair = this.tokens.keyPairFor(apiKey.project, token);
    if (!pair) return this.verifyOfIssuer(apiKey, token);
    if (!(await this.tokens.isSignedWithPair(pair, token))) return false;
    // ID tokens for applications are signed with the same key pairs, but have no role.
    return typeof readToken(token)?.claims.role === 'string' && this.callerOf(apiKey, token);
  }

  /** Called once the signature was verified. Passport passes parsed claims, in which large numbers have lost digits. */
  validate(request: Request): Caller | false {
    const token = bearerToken(request.get('authorization'));
    return request.apiKey && token !== null ? this.callerOf(request.apiKey, token) : false;
  }

  private async verifyOfIssuer(
    { project, role }: VerifiedApiKey,
    token: string,
  ): Promise<Caller | false | null> {
    const caller = await this.issuers.verify(project, token);
    if (caller && !this.tokens.isCallerTimely(caller)) throw untimelyCredentials();
    // The service-role key as apikey gives its role to every bearer.
    return caller && role === SERVICE_ROLE ? Object.freeze({ ...caller, role: SERVICE_ROLE }) : caller;
  }

  private callerOf(apiKey: VerifiedApiKey, token: string): Caller | false {
    const read = readToken(token);
    if (!read) return false;
    if (!this.tokens.isTimely(read.claims)) throw untimelyCredentials();
    return toCaller(apiKey, read);
  }
}

/** service_role if either credential is the service-role key; the claims are always the bearer's. */
function toCaller(apiKey: VerifiedApiKey, { claims, claimsText: signed }: TokenForm): Caller | false {
  const tokenRole = claims.role ?? ANON_ROLE;
  if (typeof tokenRole !== 'string' || tokenRole === '') return false;
  // A token of another project is refused even if both projects shared a secret.
  if (claims.project_id !== undefined && claims.project_id !== apiKey.project.id) return false;
  if (!isAudience(claims.aud)) return false;
  const isService = apiKey.role === SERVICE_ROLE || tokenRole === SERVICE_ROLE;
  const sessionId = claims.session_id === undefined ? null : sessionIdOf(claims.session_id);
  const userId = typeof claims.sub === 'string' && UUID.test(claims.sub) ? claims.sub.toLowerCase() : null;
  return Object.freeze({
    project: apiKey.project,
    database: apiKey.project.database,
    role: isService ? SERVICE_ROLE : tokenRole,
    claims: claimsText(claims, signed, userId),
    tokenClaims: claims,
    userId,
    sessionId,
    readOnly: claims.read_only === true,
    ...(isService || sessionId === null ? {} : secondFactorDemand(apiKey, claims)),
  });
}

/**
 * The token's own claim counts: a token that was issued before its session got a second factor counts as a token of one factor.
 */
function secondFactorDemand({ project }: VerifiedApiKey, claims: JsonObject): Pick<Caller, 'secondFactor'> {
  const { mfa_required: rule } = project.settings;
  return rule === 'never' || claims.aal === TWO_FACTORS ? {} : { secondFactor: rule };
}

/** RFC 7519, 4.1.3: a name or a list of names. Any is accepted: the project's secret already identifies the audience. */
function isAudience(claim: unknown): boolean {
  return (claim ?? null) === null || [claim].flat().every((one) => typeof one === 'string');
}

/** A session claim that is not text becomes an invalid id, which the check in the database refuses. */
function sessionIdOf(claim: unknown): string {
  return typeof claim === 'string' ? claim : '';
}
