/** Providers of a project, as administrators set them. */
import { Matches } from 'class-validator';
import { MAX_CLIENT_ID, MAX_CLIENT_IDS, MAX_SCOPES, MAX_URL, PRESETS } from '../../providers/provider';
import * as f from '../../../http/model/fields';
import { IsWebAddress } from '../../../http/input/web-address';

const MAX_SECRET = 5_000;
const TENANT = '9f0c1f6e-0e5b-4b5b-8f4e-1c2d3e4f5a6b';
const CALLBACK = 'https://plinth.example.com/p/acme/auth/v1/callback';

@f.Example({ client_id: 'plinth', client_secret: 'secret of the client', issuer: 'https://id.example.com' })
export class SaveProviderDto extends f.model({
  preset: f.optional.choice(PRESETS, 'Default: the name, if it is one of these, else `oidc`', {
    enum: [...PRESETS],
  }),
  enabled: f.optional.flag('Default: true'),
  client_id: f.optional.text('Required for a new provider', { min: 1, max: MAX_CLIENT_ID }),
  client_secret: f.optional.text(
    'Stored encrypted and never shown again. Default: the stored one stays, if the address of the provider does',
    { min: 1, max: MAX_SECRET },
  ),
  issuer: f.optional.text(
    'For `oidc` and `keycloak` (the address of the realm); for a self-hosted server of `gitlab` or `github`',
    { max: MAX_URL, format: 'uri', checks: [IsWebAddress()] },
  ),
  tenant: f.optional.text('Of `azure`: the id of the directory (tenant)', { max: 100, example: TENANT }),
  domain: f.optional.text('Of `okta` and `auth0`', { max: 253, example: 'acme.okta.com' }),
  scopes: f.optional.text('Separated by spaces. Default: those of the preset', {
    max: MAX_SCOPES,
    checks: [Matches(/^[\x21\x23-\x5b\x5d-\x7e ]+$/)],
  }),
  additional_client_ids: f.optional.texts(
    'Ids of further clients, such as mobile applications, whose ID tokens are accepted',
    { max: MAX_CLIENT_ID, maxItems: MAX_CLIENT_IDS },
  ),
}) {}

export class ProviderResponse extends f.model({
  name: f.text({ example: 'keycloak' }),
  preset: f.choice([...PRESETS]),
  enabled: f.flag(),
  client_id: f.text({ example: 'plinth' }),
  has_client_secret: f.flag(),
  issuer: f.nullable.text(),
  tenant: f.nullable.text(),
  domain: f.nullable.text(),
  scopes: f.nullable.text(),
  additional_client_ids: f.texts({ example: [] }),
  callback_url: f.text('The address to register at the provider', {
    format: 'uri',
    example: CALLBACK,
  }),
  created_at: f.timeText(),
  updated_at: f.timeText(),
}) {}

export class ProviderEnvelopeResponse extends f.model({
  provider: f.object(ProviderResponse),
}) {}

export class ProvidersResponse extends f.model({
  providers: f.list(ProviderResponse),
  callback_url: f.text('The address to register at every provider', {
    format: 'uri',
    example: CALLBACK,
  }),
}) {}

export class ProviderTrialResponse extends f.model({
  url: f.text('To be opened in a browser', {
    format: 'uri',
    example: 'https://id.example.com/realms/acme/protocol/openid-connect/auth?client_id=plinth',
  }),
}) {}

export class LdapTrialResponse extends f.model({
  claims: f.anyObject('As an identity of the user would have them', {
    example: {
      iss: 'dc=example,dc=com',
      sub: '5f9c8a1e-1b1e-4c5c-8a86-1d1f4c1e2d3b',
      email: 'ada@example.com',
      email_verified: true,
      name: 'Ada Lovelace',
      custom_claims: { groups: ['staff'] },
    },
  }),
}) {}
