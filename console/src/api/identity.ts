/** Credentials for a project's own API, as the service role or as another identity ("view as"). */
import { api, dataOf } from './client';
import { askToConfirm } from './step-up';

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
  /** True if the server refuses changes of accounts and providers with this token. */
  readonly unconfirmed: boolean;
}

/** Renew this long before the end, so that a call does not arrive too late. */
const MARGIN_MS = 30_000;

const known = new Map<string, Promise<Credentials>>();

/** Forgets all credentials, after a sign-out or a rotation of keys. */
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

/**
 * Credentials of the service role for changes of accounts and providers. Asks for a confirmation if the last
 * confirmation is too old.
 */
export async function confirmedHeaders(projectId: string): Promise<Record<string, string>> {
  if ((await credentialsOf(projectId, SERVICE_ROLE)).unconfirmed) {
    forgetCredentials();
    const { unconfirmed } = await credentialsOf(projectId, SERVICE_ROLE);
    if (unconfirmed && (await askToConfirm())) forgetCredentials();
  }
  return projectHeaders(projectId);
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
  const answer = await dataOf(
    api.POST('/admin/v1/projects/{id}/access-tokens', {
      params: { path: { id: projectId } },
      body: identity,
    }),
  );
  const { access_token: accessToken, apikey, expires_at: end, unconfirmed } = answer;
  return { apikey, accessToken, expiresAt: Date.parse(end), unconfirmed };
}
