/** Providers of a project, as administrators set them. */
import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsString, IsUrl, Matches, MaxLength } from 'class-validator';
import { Example } from '../../../http/docs/example.decorator';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';
import { IsText } from '../../../identity/http/checks';
import {
  MAX_CLIENT_ID,
  MAX_CLIENT_IDS,
  MAX_SCOPES,
  MAX_URL,
  type Preset,
  PRESETS,
} from '../../providers/provider';

const MAX_SECRET = 5_000;
const TENANT = '9f0c1f6e-0e5b-4b5b-8f4e-1c2d3e4f5a6b';
const AT = '2026-01-01T08:00:00.000Z';

@Example({ client_id: 'plinth', client_secret: 'secret of the client', issuer: 'https://id.example.com' })
export class SaveProviderDto {
  @OptionalProperty({
    enum: [...PRESETS],
    type: String,
    description: 'Default: the name, if it is one of these, else `oidc`',
  })
  @IsIn(PRESETS)
  preset?: Preset;

  @OptionalProperty({ description: 'Default: true' })
  @IsBoolean()
  enabled?: boolean;

  @OptionalProperty({ maxLength: MAX_CLIENT_ID, description: 'Needed for a new provider' })
  @IsText({ min: 1, max: MAX_CLIENT_ID })
  client_id?: string;

  @OptionalProperty({
    maxLength: MAX_SECRET,
    description:
      'Stored encrypted and never shown again. Default: the stored one stays, if the address of the provider does',
  })
  @IsText({ min: 1, max: MAX_SECRET })
  client_secret?: string;

  @OptionalProperty({
    maxLength: MAX_URL,
    format: 'uri',
    description:
      'Of `oidc` and `keycloak` (the address of the realm); of an own server of `gitlab` or `github`',
  })
  @IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'], disallow_auth: true })
  @MaxLength(MAX_URL)
  issuer?: string;

  @OptionalProperty({ description: 'Of `azure`: the id of the directory (tenant)', example: TENANT })
  @IsText({ max: 100 })
  tenant?: string;

  @OptionalProperty({ description: 'Of `okta` and `auth0`', example: 'acme.okta.com' })
  @IsText({ max: 253 })
  domain?: string;

  @OptionalProperty({
    maxLength: MAX_SCOPES,
    description: 'Separated by spaces. Default: those of the preset',
  })
  @Matches(/^[\x21\x23-\x5b\x5d-\x7e ]+$/)
  @MaxLength(MAX_SCOPES)
  scopes?: string;

  @OptionalProperty({
    type: [String],
    maxItems: MAX_CLIENT_IDS,
    description: 'Ids of further clients, such as mobile applications, whose ID tokens are accepted',
  })
  @IsArray()
  @ArrayMaxSize(MAX_CLIENT_IDS)
  @IsString({ each: true })
  @MaxLength(MAX_CLIENT_ID, { each: true })
  additional_client_ids?: string[];
}

const PROVIDER = {
  name: 'keycloak',
  preset: 'keycloak',
  enabled: true,
  client_id: 'plinth',
  has_client_secret: true,
  issuer: 'https://id.example.com/realms/acme',
  tenant: null,
  domain: null,
  scopes: null,
  additional_client_ids: [],
  callback_url: 'https://plinth.example.com/p/acme/auth/v1/callback',
  created_at: AT,
  updated_at: AT,
};

export class ProviderResponse {
  @ApiProperty() name!: string;
  @ApiProperty({ enum: [...PRESETS] }) preset!: Preset;
  @ApiProperty() enabled!: boolean;
  @ApiProperty() client_id!: string;
  @ApiProperty() has_client_secret!: boolean;
  @ApiProperty({ type: String, nullable: true }) issuer!: string | null;
  @ApiProperty({ type: String, nullable: true }) tenant!: string | null;
  @ApiProperty({ type: String, nullable: true }) domain!: string | null;
  @ApiProperty({ type: String, nullable: true }) scopes!: string | null;
  @ApiProperty({ type: [String] }) additional_client_ids!: readonly string[];
  @ApiProperty({ format: 'uri', description: 'The address to register at the provider' })
  callback_url!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

@Example({ provider: PROVIDER })
export class ProviderEnvelopeResponse {
  @ApiProperty({ type: ProviderResponse }) provider!: ProviderResponse;
}

@Example({ providers: [PROVIDER], callback_url: PROVIDER.callback_url })
export class ProvidersResponse {
  @ApiProperty({ type: [ProviderResponse] }) providers!: ProviderResponse[];
  @ApiProperty({ format: 'uri', description: 'The address to register at every provider' })
  callback_url!: string;
}

@Example({ url: 'https://id.example.com/realms/acme/protocol/openid-connect/auth?client_id=plinth' })
export class ProviderTrialResponse {
  @ApiProperty({ format: 'uri', description: 'To be opened in a browser' })
  url!: string;
}
