/** The `iss` of users' tokens. */
import type { Project } from './project';

/**
 * With key pairs, the issuer is the address whose `.well-known/openid-configuration` names it (OpenID Connect
 * Discovery, 4.3).
 */
export function issuerOf(publicUrl: string, { id, slug, signingKeys }: Project): string {
  return signingKeys.some(({ status }) => status === 'current')
    ? discoveryIssuerOf(publicUrl, slug)
    : `${publicUrl}/v1/auth/${id}`;
}

export const discoveryIssuerOf = (publicUrl: string, slug: string): string =>
  `${publicUrl}/p/${slug}/auth/v1`;
