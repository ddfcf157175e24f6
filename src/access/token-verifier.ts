/**
 * Finds the key of a token by its `kid`, and checks times. Each key has one algorithm (RFC 8725, 3.1): passport-jwt checks
 * signatures made with the project's secret, and this class checks signatures made with its key pairs.
 */
import { Injectable } from '@nestjs/common';
import { createHmac, type KeyObject } from 'node:crypto';
import { Clock } from '../common/time/clock';
import { JsonObject } from '../common/text/json';
import { equalSecrets } from '../infra/crypto/constant-time';
import { isSignedBy } from '../infra/crypto/jws';
import { isSecretValid, Project, ProjectSecret } from '../projects/project';
import { ANON_ROLE, projectKey, SERVICE_ROLE } from '../projects/project-keys';
import type { SigningKey } from '../projects/signing-keys';
import type { Caller } from './caller';
import { readToken } from './token-form';

/** Tolerance for `exp` and `nbf` of tokens that the project signed. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** Tolerance for tokens of other issuers, and for `iat`: machines that issue tokens may have clocks further apart. */
const ISSUER_TOLERANCE_SECONDS = 120;
/** Milliseconds for which a verified token of another issuer is not verified again: a withdrawn key still works that long. */
const ISSUER_KEY_MS = 600_000;

const KEY_ROLES = [ANON_ROLE, SERVICE_ROLE] as const;

@Injectable()
export class TokenVerifier {
  constructor(private readonly clock: Clock) {}

  /** The unverified claims of a token, only to find the project that it names. */
  peek(token: string): JsonObject | null {
    return readToken(token)?.claims ?? null;
  }

  /** The secret to verify the token with, or null when the project has no valid secret for it. */
  secretFor(project: Project, token: string): ProjectSecret | null {
    const read = readToken(token);
    if (!read) return null;
    const secret = this.findSecret(project, read.kid, token);
    if (secret === null || project.settings.backend_tokens_enabled) return secret;
    const isKey = KEY_ROLES.some((role) => projectKey(project, secret, role) === token);
    return isKey ? secret : null;
  }

  /** The key pair that the header names, if it is one of the project. */
  keyPairFor(project: Project, token: string): SigningKey | null {
    const kid = readToken(token)?.kid;
    const found = project.signingKeys.find((key) => key.kid === kid);
    return found && this.isSecretValid(found) ? found : null;
  }

  /** Whether the key pair signed the token. */
  async isSignedWithPair(pair: SigningKey, token: string): Promise<boolean> {
    return isSignedBy(pair, token);
  }

  private findSecret(project: Project, kid: string | undefined, token: string): ProjectSecret | null {
    const valid = project.secrets.filter((secret) => this.isSecretValid(secret));
    if (kid !== undefined) return valid.find((secret) => secret.kid === kid) ?? null;
    // A project's own backend may sign without a kid, and uses the old secret during the grace period.
    return (valid.length > 1 && valid.find(({ key }) => isSignedWith(key, token))) || project.secrets[0];
  }

  /** True from `nbf` and `iat` to `exp` (RFC 7519, 4.1.4 to 4.1.6), with the tolerance for clocks. */
  isTimely({ exp, nbf, iat }: JsonObject, tolerance = CLOCK_TOLERANCE_SECONDS): boolean {
    const now = this.clock.nowSeconds();
    if (exp !== undefined && !(typeof exp === 'number' && exp + tolerance > now)) return false;
    const hasBegun = (begin: unknown, early: number): boolean =>
      begin === undefined || (typeof begin === 'number' && begin - early <= now);
    return hasBegun(nbf, tolerance) && hasBegun(iat, ISSUER_TOLERANCE_SECONDS);
  }

  /** Whether the token of the caller is valid at the current time. */
  isCallerTimely({ tokenClaims, issuer }: Caller): boolean {
    return this.isTimely(
      tokenClaims,
      issuer === undefined ? CLOCK_TOLERANCE_SECONDS : ISSUER_TOLERANCE_SECONDS,
    );
  }

  /** The lifetime of a verified key of another issuer, after which the issuer's key set is read again. */
  issuerKey(): { readonly expiresAt: number } {
    return { expiresAt: this.clock.now() + ISSUER_KEY_MS };
  }

  /** False once the grace period after a rotation is over. */
  isSecretValid(secret: Pick<ProjectSecret, 'expiresAt'>): boolean {
    return isSecretValid(secret, this.clock.now());
  }
}

/** Only selects a secret; passport-jwt verifies the signature. */
function isSignedWith(key: KeyObject, token: string): boolean {
  const end = token.lastIndexOf('.');
  const signature = createHmac('sha256', key).update(token.slice(0, end)).digest('base64url');
  return equalSecrets(signature, token.slice(end + 1));
}
