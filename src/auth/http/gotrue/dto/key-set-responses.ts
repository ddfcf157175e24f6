/** The key set of a project and its place, as types and as OpenAPI schemas. */
import { KEY_PAIR_ALGORITHMS } from '../../../../infra/crypto/jws';
import * as f from '../../../../http/model/fields';

class PublicKeyResponse extends f.model({
  kty: f.choice(['EC', 'RSA', 'OKP'], { example: 'EC' }),
  kid: f.text('Named by the `kid` of tokens', { example: 'p4w7d2m9c0e5r1t8y3u6' }),
  alg: f.choice(KEY_PAIR_ALGORITHMS, { example: 'ES256' }),
  use: f.choice(['sig'], { example: 'sig' }),
  key_ops: f.texts({ example: ['verify'] }),
  crv: f.optional.text('Curve, of EC and OKP', { example: 'P-256' }),
  x: f.optional.text('Of EC and OKP', { example: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU' }),
  y: f.optional.text('Of EC', { example: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' }),
  n: f.optional.text('Modulus, of RSA'),
  e: f.optional.text('Exponent, of RSA'),
}) {}

export class KeySetResponse extends f.model({
  keys: f.list(PublicKeyResponse),
}) {}

const ISSUER = 'https://plinth.example.com/p/acme/auth/v1';

export class OpenIdConfigurationResponse extends f.model({
  issuer: f.text('The `iss` of access tokens', { example: ISSUER }),
  jwks_uri: f.text({ example: `${ISSUER}/.well-known/jwks.json` }),
  token_endpoint: f.text({ example: `${ISSUER}/token` }),
  userinfo_endpoint: f.text({ example: `${ISSUER}/user` }),
  response_types_supported: f.texts({ example: ['code'] }),
  subject_types_supported: f.texts({ example: ['public'] }),
  id_token_signing_alg_values_supported: f.texts('`jwt_algorithm`', { example: ['ES256'] }),
  authorization_endpoint: f.optional.text('With `oauth_server_enabled`, as all below'),
  registration_endpoint: f.optional.text('With `oauth_registration_enabled`'),
  scopes_supported: f.optional.texts(),
  response_modes_supported: f.optional.texts(),
  grant_types_supported: f.optional.texts(),
  token_endpoint_auth_methods_supported: f.optional.texts(),
  code_challenge_methods_supported: f.optional.texts(),
  authorization_response_iss_parameter_supported: f.optional.flag(),
}) {}
