/**
 * Finds the secret of a token, and checks times. passport-jwt checks the signature in the strategies, with the algorithm
 * pinned (RFC 8725, 3.1).
 */
import { Injectable } from '@nestjs/common';
import { createHmac, type KeyObject } from 'node:crypto';
import { Clock } from '../common/time/clock';
import { JsonObject } from '../common/text/json';
import { equalSecrets } from '../infra/crypto/constant-time';
import { isSecretValid, Project, ProjectSecret } from '../projects/project';
import { readToken } from './token-form';

/** Clocks of replicas and of a project's own backend may differ by this much. */
const CLOCK_TOLERANCE_SECONDS = 30;

@Injectable()
export class TokenVerifier {
  constructor(private readonly clock: Clock) {}

  /** The unverified claims of a token, only to find the project that it names. */
  peek(token: string): JsonObject | null {
    return readToken(token)?.claims ?? null;
  }

  /** The secret to verify the token with, or null when the project has no valid one for it. */
  secretFor(project: Project, token: string): ProjectSecret | null {
    const read = readToken(token);
    if (!read) return null;
    const { kid } = read;
    const valid = project.secrets.filter((secret) => this.isSecretValid(secret));
    if (kid !== undefined) return valid.find((secret) => secret.kid === kid) ?? null;
    // A project's own backend may sign without a kid, and uses the old secret during the grace period.
    return (valid.length > 1 && valid.find(({ key }) => isSignedWith(key, token))) || project.secrets[0];
  }

  /** True from `nbf` and `iat` to `exp` (RFC 7519, 4.1.4 to 4.1.6), with the tolerance for clocks. */
  isTimely({ exp, nbf, iat }: JsonObject): boolean {
    const now = this.clock.nowSeconds();
    if (exp !== undefined && !(typeof exp === 'number' && exp + CLOCK_TOLERANCE_SECONDS > now)) return false;
    return [nbf, iat].every(
      (begin) => begin === undefined || (typeof begin === 'number' && begin - CLOCK_TOLERANCE_SECONDS <= now),
    );
  }

  /** False once the grace period after a rotation is over. */
  isSecretValid(secret: ProjectSecret): boolean {
    return isSecretValid(secret, this.clock.now());
  }
}

/** Only selects a secret; passport-jwt verifies the signature. */
function isSignedWith(key: KeyObject, token: string): boolean {
  const end = token.lastIndexOf('.');
  const signature = createHmac('sha256', key).update(token.slice(0, end)).digest('base64url');
  return equalSecrets(signature, token.slice(end + 1));
}
