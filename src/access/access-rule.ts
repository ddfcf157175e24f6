/** The credentials that a route requires, derived from its guards, so that a declaration cannot differ from them. */
import { type CanActivate, SetMetadata, type Type } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants';
import { Reflector } from '@nestjs/core';
import { PUBLIC_ROUTE } from './public-route.decorator';

const CREDENTIALS = 'plinth:credentials';

const reflector = new Reflector();

/** A method of a controller. */
export type Handler = (...parameters: never[]) => unknown;

/** The checks of guards, each with the checks that must come before it. */
const PREREQUISITES = {
  /** A key of the project. */
  apikey: null,
  /** A token that the project signed. The keys of the project are such tokens too. */
  bearer: 'apikey',
  /** The bearer is a token of a user. */
  user: 'bearer',
  /** The bearer is the access token of a session. */
  session: 'bearer',
  /** The apikey or the bearer is the service-role key. */
  service_role: 'bearer',
  /** A staff member with a session or a personal access token, or PLATFORM_ADMIN_KEY; their rights depend on their role. */
  staff: null,
  /** A session or a token of a staff member; not PLATFORM_ADMIN_KEY. */
  staff_member: 'staff',
  /** A session of a staff member. */
  staff_session: 'staff',
  /** The signature of an S3 key of the project. */
  s3_key: null,
  /** The SCIM token that a directory service sends. */
  scim_token: null,
  /** METRICS_TOKEN or PLATFORM_ADMIN_KEY. */
  metrics_token: null,
} as const;

export type Credential = keyof typeof PREREQUISITES;

/** `public`, or the last credential that is checked, after all that it presupposes. */
export type AccessRule = 'public' | Credential;

/** Declares the checks of a guard, in order. A guard without checks can run between guards that check credentials. */
export const Checks = (...credentials: Credential[]): ClassDecorator => SetMetadata(CREDENTIALS, credentials);

export interface Access {
  readonly rule: AccessRule;
  /** The reason why a public route needs no credential; null for all other rules. */
  readonly reason: string | null;
}

/**
 * @param handler the controller's method
 * @throws Error whose message says what is wrong with the guards
 */
export function accessOf(controller: Type, handler: Handler): Access {
  const checked = credentialsOf([...guardsOf(controller), ...guardsOf(handler)]);
  const reason = reasonOf(handler) ?? reasonOf(controller);
  const rule = checked.at(-1);
  if (rule === undefined && reason === null)
    throw new Error('no guard checks a credential, and it is not a @PublicRoute');
  if (rule !== undefined && reason !== null) throw new Error(`it is a @PublicRoute, and ${rule} is checked`);
  for (const [index, credential] of checked.entries()) {
    const prerequisite = PREREQUISITES[credential];
    if (prerequisite !== null && !checked.slice(0, index).includes(prerequisite))
      throw new Error(`${credential} is checked without ${prerequisite} before it`);
  }
  return { rule: rule ?? 'public', reason };
}

/** @throws Error when a guard checks anything else before a credential */
function credentialsOf(guards: readonly Type<CanActivate>[]): Credential[] {
  const checks = guards.map((guard) => reflector.get<Credential[] | undefined>(CREDENTIALS, guard));
  const other = checks.findIndex((credentials) => credentials === undefined);
  if (other >= 0 && checks.slice(other).some((credentials) => credentials?.length))
    throw new Error(`${guards[other]?.name} comes before a guard that checks a credential`);
  return checks.flatMap((credentials) => credentials ?? []);
}

const guardsOf = (target: Type | Handler): Type<CanActivate>[] =>
  reflector.get<Type<CanActivate>[] | undefined>(GUARDS_METADATA, target) ?? [];

const reasonOf = (target: Type | Handler): string | null =>
  reflector.get<string | undefined>(PUBLIC_ROUTE, target) ?? null;
