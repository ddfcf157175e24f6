/** Credentials for a project's own API, as the service role or as another identity ("view as"). */
import { adminCall, api, dataOf } from './client';
import { ApiError } from './errors';
import { signedToken } from './signed-token';

export type Identity =
  | { readonly as: 'service_role' }
  | { readonly as: 'anon' }
  | { readonly as: 'user'; readonly user_id: string }
  | { readonly as: 'claims'; readonly claims: Record<string, unknown> };

export const SERVICE_ROLE: Identity = { as: 'service_role' };

interface Credentials {
  readonly apikey: string;
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface AccessTokenAnswer {
  readonly access_token: string;
  readonly apikey: string;
  readonly expires_at: string | number;
}

/** Renew this long before the end, so that a call does not arrive too late. */
const MARGIN_MS = 30_000;
const LIFETIME_MS = 300_000;

const known = new Map<string, Promise<Credentials>>();

/** Forgets all credentials: after a sign-out, or a rotation of keys. */
export function forgetCredentials(): void {
  known.clear();
}

export async function projectHeaders(
  projectId: string,
  identity: Identity = SERVICE_ROLE,
): Promise<Record<string, string>> {
  const { apikey, accessToken } = await credentialsOf(projectId, identity);
  return { apikey, Authorization: `Bearer ${accessToken}` };
}

async function credentialsOf(projectId: string, identity: Identity): Promise<Credentials> {
  const name = `${projectId} ${JSON.stringify(identity)}`;
  const cached = await known.get(name)?.catch(() => undefined);
  if (cached && cached.expiresAt - MARGIN_MS > Date.now()) return cached;
  const fresh = issue(projectId, identity);
  known.set(name, fresh);
  return fresh;
}

async function issue(projectId: string, identity: Identity): Promise<Credentials> {
  try {
    const answer = await adminCall<AccessTokenAnswer>(
      'POST',
      `/projects/${encodeURIComponent(projectId)}/access-tokens`,
      identity,
    );
    const { access_token: accessToken, apikey, expires_at: end } = answer;
    const expiresAt = typeof end === 'number' ? end * 1000 : Date.parse(end);
    return { apikey, accessToken, expiresAt };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return issueFromKeys(projectId, identity);
  }
}

/** For a server without access tokens for people: its administrators may read the keys and the secret of the project. */
async function issueFromKeys(projectId: string, identity: Identity): Promise<Credentials> {
  const keys = await dataOf(api.GET('/admin/v1/projects/{id}/keys', { params: { path: { id: projectId } } }));
  const expiresAt = Date.now() + LIFETIME_MS;
  if (identity.as === 'service_role')
    return { apikey: keys.service_role_key, accessToken: keys.service_role_key, expiresAt };
  if (identity.as === 'anon') return { apikey: keys.anon_key, accessToken: keys.anon_key, expiresAt };
  const claims =
    identity.as === 'user' ? { sub: identity.user_id, role: 'authenticated' } : { ...identity.claims };
  const exp = Math.floor(expiresAt / 1000);
  return {
    apikey: keys.anon_key,
    accessToken: await signedToken({ exp, ...claims }, keys.jwt_secret),
    expiresAt,
  };
}
