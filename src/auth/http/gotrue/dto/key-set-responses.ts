/** The key set of a project and its place, as types and as OpenAPI schemas. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Example } from '../../../../http/docs/example.decorator';
import { KEY_PAIR_ALGORITHMS } from '../../../../infra/crypto/jws';

const KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  kid: 'p4w7d2m9c0e5r1t8y3u6',
  alg: 'ES256',
  use: 'sig',
  key_ops: ['verify'],
};

@Example(KEY)
class PublicKeyResponse {
  @ApiProperty({ enum: ['EC', 'RSA', 'OKP'] }) readonly kty!: string;
  @ApiProperty({ description: 'Named by the `kid` of tokens' }) readonly kid!: string;
  @ApiProperty({ enum: KEY_PAIR_ALGORITHMS }) readonly alg!: string;
  @ApiProperty({ enum: ['sig'] }) readonly use!: string;
  @ApiProperty({ type: [String] }) readonly key_ops!: string[];
  @ApiPropertyOptional({ description: 'Curve, of EC and OKP' }) readonly crv?: string;
  @ApiPropertyOptional({ description: 'Of EC and OKP' }) readonly x?: string;
  @ApiPropertyOptional({ description: 'Of EC' }) readonly y?: string;
  @ApiPropertyOptional({ description: 'Modulus, of RSA' }) readonly n?: string;
  @ApiPropertyOptional({ description: 'Exponent, of RSA' }) readonly e?: string;
}

@Example({ keys: [KEY] })
export class KeySetResponse {
  @ApiProperty({ type: [PublicKeyResponse] }) readonly keys!: PublicKeyResponse[];
}

const ISSUER = 'https://plinth.example.com/p/acme/auth/v1';

@Example({
  issuer: ISSUER,
  jwks_uri: `${ISSUER}/.well-known/jwks.json`,
  token_endpoint: `${ISSUER}/token`,
  userinfo_endpoint: `${ISSUER}/user`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
})
export class OpenIdConfigurationResponse {
  @ApiProperty({ description: 'The `iss` of access tokens' }) readonly issuer!: string;
  @ApiProperty() readonly jwks_uri!: string;
  @ApiProperty() readonly token_endpoint!: string;
  @ApiProperty() readonly userinfo_endpoint!: string;
  @ApiProperty({ type: [String] }) readonly response_types_supported!: string[];
  @ApiProperty({ type: [String] }) readonly subject_types_supported!: string[];
  @ApiProperty({ type: [String], description: '`jwt_algorithm`' })
  readonly id_token_signing_alg_values_supported!: string[];
}
