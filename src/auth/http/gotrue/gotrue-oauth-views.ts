/** Converts applications from request bodies, and to responses, in GoTrue's format. */
import { type ClientInput, isPublic, type OAuthClient } from '../../oauth/oauth-client';
import type { OAuthClientDto, OAuthClientResponse, OAuthClientUpdateDto } from './dto/gotrue-oauth.dto';

export const toClientInput = (body: OAuthClientUpdateDto & Partial<OAuthClientDto>): ClientInput => ({
  name: body.client_name,
  uri: body.client_uri,
  logoUri: body.logo_uri,
  redirectUris: body.redirect_uris,
  grantTypes: body.grant_types,
  authMethod: body.token_endpoint_auth_method,
  type: body.client_type,
});

/** @param secret a new one, which is shown once */
export function toClientView(client: OAuthClient, secret: string | null = null): OAuthClientResponse {
  return {
    client_id: client.id,
    ...(secret === null ? {} : { client_secret: secret }),
    client_name: client.name,
    client_type: isPublic(client) ? 'public' : 'confidential',
    token_endpoint_auth_method: client.authMethod,
    registration_type: client.registration,
    ...(client.uri === null ? {} : { client_uri: client.uri }),
    ...(client.logoUri === null ? {} : { logo_uri: client.logoUri }),
    redirect_uris: client.redirectUris,
    grant_types: client.grantTypes,
    response_types: ['code'],
    created_at: client.createdAt.toISOString(),
    updated_at: client.updatedAt.toISOString(),
  };
}

export const toRequestingClient = ({ id, name, uri, logoUri }: OAuthClient) => ({
  id,
  name,
  uri: uri ?? '',
  logo_uri: logoUri ?? '',
});
