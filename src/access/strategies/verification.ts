/** The options of both strategies for passport-jwt. TokenVerifier checks times, with the injected clock. */
import type { IAuthModuleOptions } from '@nestjs/passport';
import type { Algorithm } from 'jsonwebtoken';
import type { Strategy } from 'passport-jwt';
import { ProjectSecret } from '../../projects/project';

const ALGORITHMS: Algorithm[] = ['HS256'];

export const PINNED_VERIFICATION = {
  algorithms: ALGORITHMS,
  ignoreExpiration: true,
  jsonWebTokenOptions: { ignoreNotBefore: true },
  passReqToCallback: true as const,
};

/** jsonwebtoken takes a KeyObject, which passport-jwt passes on; passport-jwt's types declare only a string. */
export function passportSecret(secret: ProjectSecret | null): string | undefined {
  return secret?.key as unknown as string | undefined;
}

/**
 * A guard's options for @nestjs/passport. Passport looks strategies up by name in one list per process, where a second
 * application would replace the first one's; it accepts the object too, which its types do not declare. Each request needs a
 * copy, as passport makes one for a name: passport sets the request's callbacks on it, and concurrent requests would answer
 * each other.
 * @param property the property of the request that gets the strategy's outcome
 */
export function guardOptions(property: 'apiKey' | 'caller', strategy: Strategy): IAuthModuleOptions {
  return {
    property,
    get defaultStrategy() {
      return Object.create(strategy) as string;
    },
  };
}
