/** The outcome of the apikey and bearer guards: project, role and claims of a request. Immutable, and passed as an argument. */
import { isJsonObject, JsonObject } from '../common/text/json';
import { RlsContext } from '../database/rls/rls-context';
import type { ApiKey } from '../projects/api-keys';
import { SERVICE_ROLE } from '../projects/project-keys';
import { Project } from '../projects/project';

/** Authenticator assurance level of a session (NIST SP 800-63B): a password alone, or a password and a code. */
export const ONE_FACTOR = 'aal1';
export const TWO_FACTORS = 'aal2';
export type AssuranceLevel = typeof ONE_FACTOR | typeof TWO_FACTORS;

export interface Caller extends RlsContext {
  readonly project: Project;
  /** The bearer's claims. */
  readonly tokenClaims: JsonObject;
  /** `sub` of the bearer when it is a UUID: the user's id. */
  readonly userId: string | null;
  /** The trusted issuer of the bearer (setting `trusted_issuers`): its users have no account here. */
  readonly issuer?: string;
  /** Set if the bearer is a named key. */
  readonly named?: ApiKey;
  /** True for tokens with the claim `read_only`. */
  readonly readOnly: boolean;
}

/** The entry of `amr` in tokens of applications (OAuth 2.1), as GoTrue names it. */
export const APPLICATION_METHOD = 'oauth_provider/authorization_code';

/** True for the access token that an application got with a user's approval. */
export function isOfApplication({ tokenClaims: { amr } }: Caller): boolean {
  return Array.isArray(amr) && amr.some((one) => isJsonObject(one) && one.method === APPLICATION_METHOD);
}

/** True for requests with the rights of the service-role key. */
export function isService(caller: Caller): boolean {
  return caller.role === SERVICE_ROLE;
}
