/**
 * Which secret must have signed a token, and whether it is valid now. The signature itself is checked by passport-jwt
 * in the strategies, with the algorithm pinned (RFC 8725, 3.1).
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

  /** Claims of a token as they stand, unverified: only to find out which project it names. */
  peek(token: string): JsonObject | null {
    return readToken(token)?.claims ?? null;
  }

  /** The secret that must have signed the token, or null when the project has none that is valid now. */
  secretFor(project: Project, token: string): ProjectSecret | null {
    const read = readToken(token);
    if (!read) return null;
    const { kid } = read;
    const valid = project.secrets.filter((secret) => this.isSecretValid(secret));
    if (kid !== undefined) return valid.find((secret) => secret.kid === kid) ?? null;
    // A project's own backend may sign without a kid, and goes on with the old secret for the grace period.
    return (valid.length > 1 && valid.find(({ key }) => isSignedWith(key, token))) || project.secrets[0];
  }

  /** True from `nbf` and `iat` to `exp` (RFC 7519, 4.1.4 to 4.1.6), give or take the tolerance. */
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

/** Finds the secret that fits; whether it does is passport-jwt's to say. */
function isSignedWith(key: KeyObject, token: string): boolean {
  const end = token.lastIndexOf('.');
  const signature = createHmac('sha256', key).update(token.slice(0, end)).digest('base64url');
  return equalSecrets(signature, token.slice(end + 1));
}
