/** Bodies and answers of applications that sign in with accounts of a project (OAuth 2.1). */
import { UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import * as f from '../../../../http/model/fields';
import {
  AUTH_METHODS,
  GRANT_TYPES,
  MAX_CLIENT_NAME,
  MAX_REDIRECT_URIS,
  MAX_URI,
  REGISTRATIONS,
} from '../../../oauth/oauth-client';
import { IsWebAddress } from '../../../../http/input/web-address';

const CALLBACK = 'https://calendar.example.com/callback';
const ISSUER = 'https://plinth.example.com/p/acme/auth/v1';
const ACCESS_TOKEN = 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwYjZmIn0.c2lnbmF0dXJl';

/** The project's page may show the address as a link. */
const webAddress = (description: string) =>
  f.omittable.text(description, { max: MAX_URI, format: 'uri', checks: [IsWebAddress()] });

class OAuthClientFieldsDto extends f.model({
  client_uri: webAddress('Page about the application'),
  logo_uri: webAddress('Picture of the application'),
  grant_types: f.omittable(f.choices(GRANT_TYPES, { example: [...GRANT_TYPES] })),
  token_endpoint_auth_method: f.omittable(
    f.choice(AUTH_METHODS, 'Default: client_secret_basic; `none` for a public client'),
  ),
}) {}

const NAME = { max: MAX_CLIENT_NAME, example: 'Calendar' };
const REDIRECTS = { max: MAX_URI, maxItems: MAX_REDIRECT_URIS, example: [CALLBACK] };
const EXACT = 'Where answers may go, compared letter by letter';

@f.Example({ client_name: 'Calendar', redirect_uris: [CALLBACK] })
export class OAuthClientDto extends f.model(OAuthClientFieldsDto, {
  client_name: f.omittable.text('Shown to users', NAME),
  redirect_uris: f.texts(EXACT, REDIRECTS),
  client_type: f.omittable(f.choice(['confidential', 'public'], 'Default: as the method says')),
}) {}

@f.Example({ client_name: 'Calendar of teams' })
export class OAuthClientUpdateDto extends f.model(OAuthClientFieldsDto, {
  client_name: f.omittable.text('Shown to users', NAME),
  redirect_uris: f.omittable(f.texts(EXACT, REDIRECTS)),
}) {}

export class OAuthClientResponse extends f.model({
  client_id: f.uuid(),
  client_secret: f.optional.text('Shown after creation and renewal only, of confidential clients'),
  client_name: f.text({ example: 'Calendar' }),
  client_type: f.choice(['confidential', 'public']),
  token_endpoint_auth_method: f.choice(AUTH_METHODS),
  registration_type: f.choice(REGISTRATIONS),
  client_uri: f.optional.text(),
  logo_uri: f.optional.text(),
  redirect_uris: f.texts({ example: [CALLBACK] }),
  grant_types: f.choices(GRANT_TYPES, { example: [...GRANT_TYPES] }),
  response_types: f.texts({ example: ['code'] }),
  created_at: f.timeText(),
  updated_at: f.timeText(),
}) {}

export class OAuthClientsResponse extends f.model({
  clients: f.list(OAuthClientResponse),
}) {}

class OAuthAskingClientResponse extends f.model({
  id: f.uuid(),
  name: f.text({ example: 'Calendar' }),
  uri: f.text('Empty without one', { example: '' }),
  logo_uri: f.text('Empty without one', { example: '' }),
}) {}

class OAuthAskedUserResponse extends f.model({
  id: f.uuid(),
  email: f.text({ example: 'ada@example.com' }),
}) {}

/** Either what the user is asked, or `redirect_url`. */
@f.Example({
  authorization_id: 'AW9vYmFy',
  redirect_uri: CALLBACK,
  client: { id: UUID_EXAMPLE, name: 'Calendar', uri: '', logo_uri: '' },
  user: { id: UUID_EXAMPLE, email: 'ada@example.com' },
  scope: 'email',
})
export class OAuthDetailsResponse extends f.model({
  redirect_url: f.optional.text('Lead the user there: they had agreed before'),
  authorization_id: f.optional.text(),
  redirect_uri: f.optional.text('Where the answer goes'),
  client: f.optional.object(OAuthAskingClientResponse),
  user: f.optional.object(OAuthAskedUserResponse),
  scope: f.optional.text(),
}) {}

@f.Example({ action: 'approve' })
export class OAuthConsentDto extends f.model({
  action: f.choice(['approve', 'deny']),
}) {}

export class OAuthRedirectResponse extends f.model({
  redirect_url: f.text('Lead the user there', {
    example: `${CALLBACK}?code=q3fD0n7oRzG2&state=af0ifjsldkj&iss=${encodeURIComponent(ISSUER)}`,
  }),
}) {}

export class OAuthGrantResponse extends f.model({
  client: f.object(OAuthAskingClientResponse),
  scopes: f.texts({ example: ['email'] }),
  granted_at: f.timeText(),
}) {}

export class OAuthGrantQuery extends f.model({
  client_id: f.uuid('The application', { example: UUID_EXAMPLE }),
}) {}

@f.Example({
  grant_type: 'authorization_code',
  code: 'q3fD0n7oRzG2',
  redirect_uri: CALLBACK,
  code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  client_id: UUID_EXAMPLE,
})
export class OAuthTokenForm extends f.model({
  grant_type: f.choice(GRANT_TYPES),
  code: f.optional.text('With `authorization_code`'),
  redirect_uri: f.optional.text('If given, that of the request'),
  code_verifier: f.optional.text('With `authorization_code`'),
  refresh_token: f.optional.text('With `refresh_token`'),
  client_id: f.optional.text('Unless HTTP Basic has it'),
  client_secret: f.optional.text('With `client_secret_post`'),
}) {}

@f.Example({
  access_token: ACCESS_TOKEN,
  token_type: 'bearer',
  expires_in: 3_600,
  refresh_token: 'q3fD0n7oRzG2c8bXy1Jk5w.1.Zm9vYmFy',
  scope: 'email',
})
export class OAuthTokenResponse extends f.model({
  access_token: f.text(),
  token_type: f.choice(['bearer']),
  expires_in: f.whole('Seconds'),
  refresh_token: f.optional.text('If the client may use it'),
  scope: f.optional.text('After `authorization_code`'),
  id_token: f.optional.text('With the scope `openid`'),
}) {}

@f.Example({ sub: UUID_EXAMPLE, email: 'ada@example.com', email_verified: true })
export class OAuthUserInfoResponse extends f.model({
  sub: f.uuid(),
  email: f.optional.text('With the scope `email`'),
  email_verified: f.optional.flag(),
  name: f.optional.text('With the scope `profile`'),
  picture: f.optional.text(),
  updated_at: f.optional.whole('Unix seconds'),
  phone_number: f.optional.text('With the scope `phone`'),
  phone_number_verified: f.optional.flag(),
}) {}
