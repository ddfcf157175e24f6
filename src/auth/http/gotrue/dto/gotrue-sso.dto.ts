/** Bodies and answers of GoTrue's paths of single sign-on with SAML. */
import { IsUrl, MaxLength } from 'class-validator';
import { Example } from '../../../../http/docs/example.decorator';
import { MAX_DOCUMENT } from '../../../../identity/saml/saml-document';
import { NAME_ID_FORMATS } from '../../../directories/saml-provider';
import { PkceDto } from './gotrue-inputs.dto';
import { CAPTCHA } from '../../captcha.interceptor';
import * as f from '../../../../http/model/fields';
import { model } from '../../../../http/model/model';

const MAX_URL = 1_000;

@Example({
  domain: 'example.com',
  redirect_to: 'https://app.example.com/',
  skip_http_redirect: true,
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 's256',
})
export class GoTrueSsoDto extends model(PkceDto, {
  provider_id: f.optional(f.text({ max: 100, format: 'uuid', description: 'Either this or a domain' })),
  domain: f.optional(f.text({ max: 253, description: 'Domain of the addresses of users' })),
  redirect_to: f.optional(
    f.text({ max: 2_000, description: 'Where the sign-in leads: an address of the list of the project' }),
  ),
  skip_http_redirect: f.optional(f.flag('True: answers with the address; else redirects to it')),
  gotrue_meta_security: CAPTCHA,
}) {}

export class GoTrueSsoUrlResponse extends model({
  url: f.text({
    format: 'uri',
    description: 'The page of the identity provider',
    example: 'https://id.example.com/saml?SAMLRequest=...',
  }),
}) {}

const MAPPING = { keys: { email: { name: 'mail' }, groups: { name: 'memberOf', array: true } } };

export class GoTrueSsoProviderDto extends model({
  type: f.optional(f.choice(['saml'], { example: 'saml' })),
  resource_id: f.optional(
    f.text({ min: 1, max: 200, description: 'A name of your own, unique in the project' }),
  ),
  disabled: f.optional(f.flag('Turns the provider off; default: false')),
  metadata_url: f.optional(
    f.field<string>(
      {
        format: 'uri',
        maxLength: MAX_URL,
        description: 'Read now, and once a day',
        example: 'https://id.example.com/saml/metadata',
      },
      [
        MaxLength(MAX_URL),
        IsUrl({
          require_tld: false,
          require_protocol: true,
          protocols: ['http', 'https'],
          disallow_auth: true,
        }),
      ],
    ),
  ),
  metadata_xml: f.optional(f.text({ min: 1, max: MAX_DOCUMENT, description: 'In place of an address' })),
  domains: f.optional(
    f.texts({
      max: 253,
      maxItems: 100,
      description: 'Users with these addresses sign in here, and the provider proves their addresses',
      example: ['example.com'],
    }),
  ),
  attribute_mapping: f.optional(
    f.json({
      description:
        '`{keys: {<claim>: {name, names, array, default}}}`: `email` and `name` are about the user, all others become `app_metadata.custom_claims`',
      example: MAPPING,
    }),
  ),
  name_id_format: f.optional(
    f.choice(NAME_ID_FORMATS, { enum: [...NAME_ID_FORMATS], description: 'Default: none is asked for' }),
  ),
}) {}

class GoTrueSamlResponse extends model({
  entity_id: f.text({ example: 'https://id.example.com/saml' }),
  metadata_xml: f.text({ example: '<EntityDescriptor .../>' }),
  metadata_url: f.nullable(f.text()),
  name_id_format: f.nullable(f.text()),
  attribute_mapping: f.anyObject(),
}) {}

class GoTrueSsoDomainResponse extends model({
  domain: f.text(),
}) {}

export class GoTrueSsoProviderResponse extends model({
  id: f.uuid(),
  resource_id: f.nullable(f.text()),
  disabled: f.flag({ example: false }),
  domains: f.list(GoTrueSsoDomainResponse, { example: [{ domain: 'example.com' }] }),
  saml: f.object(GoTrueSamlResponse),
  created_at: f.timeText(),
  updated_at: f.timeText(),
}) {}

export class GoTrueSsoProvidersResponse extends model({
  items: f.list(GoTrueSsoProviderResponse),
}) {}
