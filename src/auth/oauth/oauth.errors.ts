/** Errors of applications that sign in with accounts of a project. */
import { AppError } from '../../common/errors/app-error';
import { refusal } from '../../identity/identity.errors';

/** The codes of RFC 6749 (4.1.2.1, 5.2), OpenID Connect Core (3.1.2.6) and RFC 7591 (3.2.2). */
type OAuthCode =
  | 'access_denied'
  | 'interaction_required'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'server_error'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

/** An error in the form of OAuth: `error` and `error_description`. */
export class OAuthError extends AppError {
  constructor(status: number, code: OAuthCode, message: string, headers: Record<string, string> = {}) {
    super(status, code, message, { headers });
  }
}

export const oauthFault = (code: OAuthCode, message: string): OAuthError =>
  new OAuthError(400, code, message);

/** The same error for an unknown client, a wrong secret and another method. */
export const invalidClient = (): OAuthError =>
  new OAuthError(401, 'invalid_client', 'The client is unknown, or did not prove who it is', {
    'WWW-Authenticate': 'Basic realm="oauth"',
  });

/** The same error for an unknown, spent and expired code, one of another client, and a wrong verifier. */
export const invalidGrant = (): OAuthError =>
  oauthFault('invalid_grant', 'The code or refresh token is not valid for this client, or no longer valid');

export const oauthServerDisabled = (): AppError =>
  refusal(404, 'oauth_server_disabled', 'The project does not sign users in to other applications');

export const registrationDisabled = (): AppError =>
  refusal(403, 'registration_disabled', 'Applications cannot register themselves here');

export const clientNotFound = (): AppError =>
  refusal(404, 'oauth_client_not_found', 'There is no such client');

/** For a request to `authorize` whose answer cannot be sent to the client. */
export const unknownClient = (): AppError =>
  refusal(400, 'unknown_oauth_client', 'client_id must be that of a client of the project');

export const unknownRedirect = (): AppError =>
  refusal(400, 'invalid_parameters', 'redirect_uri must be one that the client has registered');

export const tooManyClients = (limit: number): AppError =>
  refusal(422, 'too_many_oauth_clients', `A project has at most ${limit} OAuth clients`);

/** The same error for an expired, answered and altered request, and for one that another user opened. */
export const authorizationNotFound = (): AppError =>
  refusal(404, 'authorization_not_found', 'The request was answered, has expired, or is not yours');

export const grantNotFound = (): AppError =>
  refusal(404, 'grant_not_found', 'You have granted nothing to such a client');
