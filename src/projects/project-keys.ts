/** The two keys of a project: JWTs signed with its current secret. */
import { sign } from 'jsonwebtoken';
import { signJwt } from '../infra/crypto/jws';
import { Project, ProjectSecret } from './project';

export const KEY_ISSUER = 'plinth';
export const ANON_ROLE = 'anon';
export const SERVICE_ROLE = 'service_role';
export const AUTHENTICATED_ROLE = 'authenticated';

export type KeyRole = typeof ANON_ROLE | typeof SERVICE_ROLE;

/** The same secret always gives the same keys (`iat` is the secret's creation time), so keys need not be stored. */
export function projectKey(
  project: Pick<Project, 'id' | 'slug'>,
  secret: ProjectSecret,
  role: KeyRole,
): string {
  const claims = {
    iss: KEY_ISSUER,
    project_id: project.id,
    ref: project.slug,
    role,
    iat: Math.floor(secret.createdAt / 1000),
  };
  return sign(claims, secret.key, { algorithm: 'HS256', keyid: secret.kid });
}

/** A token of a user: signed with the current key, or with the project's secret if the project has no keys. */
export async function signUserToken(project: Project, claims: object): Promise<string> {
  const current = project.signingKeys.find(({ status }) => status === 'current');
  if (current) return signJwt({ ...current, key: current.privateKey }, claims);
  const [{ key, kid }] = project.secrets;
  return sign(claims, key, { algorithm: 'HS256', keyid: kid });
}
