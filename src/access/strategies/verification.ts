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

/** jsonwebtoken takes a KeyObject; passport-jwt only hands it on, and its declarations are older. */
export function passportSecret(secret: ProjectSecret | null): string | undefined {
  return secret?.key as unknown as string | undefined;
}

/**
 * A guard's options for @nestjs/passport. Passport finds strategies by name in one list of the process, where a second
 * application would take the first one's place; it takes the object as well, which the declarations do not say.
 * Each request needs one of its own, as passport makes from a name: it hangs the request's callbacks on the object, and
 * requests that are verified side by side would answer each other.
 * @param property of the request that gets the strategy's outcome
 */
export function guardOptions(property: 'apiKey' | 'caller', strategy: Strategy): IAuthModuleOptions {
  return {
    property,
    get defaultStrategy() {
      return Object.create(strategy) as string;
    },
  };
}
