/** What both strategies ask of passport-jwt. Times are checked by TokenVerifier, against the injected clock. */
import type { StrategyOptionsWithRequest } from 'passport-jwt';

export const PINNED_VERIFICATION = {
  algorithms: ['HS256'],
  ignoreExpiration: true,
  jsonWebTokenOptions: { ignoreNotBefore: true },
  passReqToCallback: true,
} as const satisfies Partial<StrategyOptionsWithRequest> | object;
