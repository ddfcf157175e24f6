/** Verifies bearer tokens of the issuers that a project trusts (setting `trusted_issuers`). */
import { Injectable, Logger } from '@nestjs/common';
import type { KeyObject } from 'node:crypto';
import { type JsonObject, memberAt } from '../common/text/json';
import { UUID } from '../common/text/uuid';
import { algorithmOf, isSignedBy, type KeyPairAlgorithm } from '../infra/crypto/jws';
import { AUTHENTICATED_ROLE } from '../projects/project-keys';
import type { Project } from '../projects/project';
import type { TrustedIssuer } from '../projects/settings/trusted-issuers.setting';
import { Caller } from './caller';
import { claimsText } from './claims-text';
import { readToken } from './token-form';

/** The key sets of issuers, cached. Provided by src/identity, which this folder must not import. */
export abstract class IssuerKeys {
  /** @throws Error if there is no such key, or the set cannot be read */
  abstract find(uri: string, wanted: { kid?: string; algorithm: string }): Promise<KeyObject>;
}

const ALGORITHMS: readonly KeyPairAlgorithm[] = ['ES256', 'RS256'];

/** Claims by which policies and guards recognise sessions and keys of the project itself. */
const OWN_CLAIMS = ['session_id', 'project_id', 'ref', 'is_anonymous'];

@Injectable()
export class IssuerTokens {
  private readonly logger = new Logger(IssuerTokens.name);

  constructor(private readonly keys: IssuerKeys) {}

  /** The caller that the token stands for; null if its issuer is not trusted; false if it is invalid. Times are not checked. */
  async verify(project: Project, token: string): Promise<Caller | false | null> {
    const issuers = project.settings.trusted_issuers;
    const read = issuers.length > 0 ? readToken(token) : null;
    const issuer = read && issuers.find((one) => one.issuer === read.claims.iss);
    if (!issuer) return null;
    const algorithm = ALGORITHMS.find((one) => one === algorithmOf(token));
    // HS256: the project's own backend can put any issuer into its tokens.
    if (!algorithm) return null;
    const { kid, claims } = read;
    if (!isMeantFor(claims, issuer) || !(await this.isSigned(project, issuer, { kid, algorithm }, token)))
      return false;
    const role = roleOf(claims, issuer);
    return role === null ? false : toCaller(project, claims, issuer, role);
  }

  private async isSigned(
    { slug }: Project,
    { issuer, jwks_url: uri }: TrustedIssuer,
    wanted: { kid?: string; algorithm: KeyPairAlgorithm },
    token: string,
  ): Promise<boolean> {
    try {
      const key = await this.keys.find(uri, wanted);
      return (
        isKeyFor(wanted.algorithm, key) && (await isSignedBy({ algorithm: wanted.algorithm, key }, token))
      );
    } catch (error) {
      this.logger.debug(`a token of ${issuer} for project ${slug} was not verified: ${String(error)}`);
      return false;
    }
  }
}

function isKeyFor(algorithm: KeyPairAlgorithm, key: KeyObject): boolean {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  return algorithm === 'ES256' ? namedCurve === 'prime256v1' : modulusLength >= 2_048;
}

/** Requires an expiry, and the audience of this project: the issuer also signs tokens for other applications. */
function isMeantFor({ exp, aud }: JsonObject, { audience }: TrustedIssuer): boolean {
  return typeof exp === 'number' && [aud].flat().includes(audience);
}

/** Null if the token has none of the roles that the project accepts. */
function roleOf(claims: JsonObject, { role_claim: path, roles = [] }: TrustedIssuer): string | null {
  if (path === undefined) return AUTHENTICATED_ROLE;
  const given = [memberAt(claims, path)].flat();
  return roles.find((role) => given.includes(role)) ?? null;
}

function toCaller(project: Project, signed: JsonObject, { issuer }: TrustedIssuer, role: string): Caller {
  const kept = Object.entries(signed).filter(([name]) => !OWN_CLAIMS.includes(name));
  const claims: JsonObject = { ...Object.fromEntries(kept), role };
  const userId = typeof claims.sub === 'string' && UUID.test(claims.sub) ? claims.sub.toLowerCase() : null;
  return Object.freeze({
    project,
    database: project.database,
    role,
    claims: claimsText(claims, JSON.stringify(claims), userId),
    tokenClaims: claims,
    userId,
    sessionId: null,
    issuer,
    readOnly: claims.read_only === true,
  });
}
