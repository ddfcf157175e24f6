/** Bodies and answers of GoTrue's paths of single sign-on with SAML. */
import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsString, IsUrl, MaxLength } from 'class-validator';
import type { JsonObject } from '../../../../common/text/json';
import { FREE_OBJECT, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { Example } from '../../../../http/docs/example.decorator';
import { FreeJson } from '../../../../http/input/free-json';
import { OptionalProperty } from '../../../../http/input/optional-property.decorator';
import { IsText } from '../../../../identity/http/checks';
import { CaptchaMember } from '../../captcha.interceptor';
import { MAX_DOCUMENT } from '../../../../identity/saml/saml-document';
import { NAME_ID_FORMATS } from '../../../directories/saml-provider';
import { PkceDto } from './gotrue-inputs.dto';

const MAX_URL = 1_000;
const AT = '2026-01-01T08:00:00.000Z';

@Example({
  domain: 'example.com',
  redirect_to: 'https://app.example.com/',
  skip_http_redirect: true,
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 's256',
})
export class GoTrueSsoDto extends PkceDto {
  @OptionalProperty({ format: 'uuid', description: 'Either this or a domain' })
  @IsText({ max: 100 })
  provider_id?: string;

  @OptionalProperty({ maxLength: 253, description: 'Domain of the addresses of users' })
  @IsText({ max: 253 })
  domain?: string;

  @OptionalProperty({ description: 'Where the sign-in leads: an address of the list of the project' })
  @IsText({ max: 2_000 })
  redirect_to?: string;

  @OptionalProperty({ description: 'True: answers with the address; else redirects to it' })
  @IsBoolean()
  skip_http_redirect?: boolean;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

@Example({ url: 'https://id.example.com/saml?SAMLRequest=...' })
export class GoTrueSsoUrlResponse {
  @ApiProperty({ format: 'uri', description: 'The page of the identity provider' }) url!: string;
}

const MAPPING = { keys: { email: { name: 'mail' }, groups: { name: 'memberOf', array: true } } };

@Example({
  type: 'saml',
  metadata_url: 'https://id.example.com/saml/metadata',
  domains: ['example.com'],
  attribute_mapping: MAPPING,
})
export class GoTrueSsoProviderDto {
  @OptionalProperty({ enum: ['saml'], type: String })
  @IsIn(['saml'])
  type?: 'saml';

  @OptionalProperty({ maxLength: 200, description: 'A name of your own, unique in the project' })
  @IsText({ min: 1, max: 200 })
  resource_id?: string;

  @OptionalProperty({ description: 'Turns the provider off; default: false' })
  @IsBoolean()
  disabled?: boolean;

  @OptionalProperty({ format: 'uri', maxLength: MAX_URL, description: 'Read now, and once a day' })
  @IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'], disallow_auth: true })
  @MaxLength(MAX_URL)
  metadata_url?: string;

  @OptionalProperty({ maxLength: MAX_DOCUMENT, description: 'In place of an address' })
  @IsText({ min: 1, max: MAX_DOCUMENT })
  metadata_xml?: string;

  @OptionalProperty({
    type: [String],
    maxItems: 100,
    description: 'Users with these addresses sign in here, and the provider proves their addresses',
  })
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @MaxLength(253, { each: true })
  domains?: string[];

  @OptionalProperty({
    ...FREE_OBJECT,
    description:
      '`{keys: {<claim>: {name, names, array, default}}}`: `email` and `name` are about the user, all others become `app_metadata.custom_claims`',
    example: MAPPING,
  })
  @FreeJson()
  attribute_mapping?: JsonObject;

  @OptionalProperty({ enum: [...NAME_ID_FORMATS], type: String, description: 'Default: none is asked for' })
  @IsIn(NAME_ID_FORMATS)
  name_id_format?: (typeof NAME_ID_FORMATS)[number];
}

class GoTrueSamlResponse {
  @ApiProperty() entity_id!: string;
  @ApiProperty() metadata_xml!: string;
  @ApiProperty({ type: String, nullable: true }) metadata_url!: string | null;
  @ApiProperty({ type: String, nullable: true }) name_id_format!: string | null;
  @ApiProperty(FREE_OBJECT) attribute_mapping!: object;
}

class GoTrueSsoDomainResponse {
  @ApiProperty() domain!: string;
}

const PROVIDER = {
  id: UUID_EXAMPLE,
  resource_id: null,
  disabled: false,
  domains: [{ domain: 'example.com' }],
  saml: {
    entity_id: 'https://id.example.com/saml/metadata',
    metadata_xml: '<EntityDescriptor .../>',
    metadata_url: 'https://id.example.com/saml/metadata',
    name_id_format: null,
    attribute_mapping: MAPPING,
  },
  created_at: AT,
  updated_at: AT,
};

@Example(PROVIDER)
export class GoTrueSsoProviderResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ type: String, nullable: true }) resource_id!: string | null;
  @ApiProperty() disabled!: boolean;
  @ApiProperty({ type: [GoTrueSsoDomainResponse] }) domains!: GoTrueSsoDomainResponse[];
  @ApiProperty({ type: GoTrueSamlResponse }) saml!: GoTrueSamlResponse;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

@Example({ items: [PROVIDER] })
export class GoTrueSsoProvidersResponse {
  @ApiProperty({ type: [GoTrueSsoProviderResponse] }) items!: GoTrueSsoProviderResponse[];
}
