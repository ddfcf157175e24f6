/** What both strategies ask of passport-jwt. Times are checked by TokenVerifier, against the injected clock. */
import type { Algorithm } from 'jsonwebtoken';
import { ProjectSecret } from '../../projects/project';

const ALGORITHMS: Algorithm[] = ['HS256'];

export const PINNED_VERIFICATION = {
  algorithms: ALGORITHMS,
  ignoreExpiration: true,
  jsonWebTokenOptions: { ignoreNotBefore: true },
  passReqToCallback: true as const,
};

/** jsonwebtoken takes a KeyObject; passport-jwt only hands it on, and its declarations are older. */
export function passportSecret(secret: ProjectSecret | null): string | undefined {
  return secret?.key as unknown as string | undefined;
}
