/** Bodies and answers of GoTrue's paths of single sign-on with SAML. */
import { MAX_DOCUMENT } from '../../../../identity/saml/saml-document';
import { NAME_ID_FORMATS } from '../../../directories/saml-provider';
import { PkceDto } from './gotrue-inputs.dto';
import { CAPTCHA } from '../../captcha.interceptor';
import * as f from '../../../../http/model/fields';
import { IsWebAddress } from '../../../../http/input/web-address';

const MAX_URL = 1_000;

@f.Example({
  domain: 'example.com',
  redirect_to: 'https://app.example.com/',
  skip_http_redirect: true,
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 's256',
})
export class GoTrueSsoDto extends f.model(PkceDto, {
  provider_id: f.optional.text('Either this or a domain', { max: 100, format: 'uuid' }),
  domain: f.optional.text('Domain of the addresses of users', { max: 253 }),
  redirect_to: f.optional.text('The target of the sign-in: an address in the list of the project', {
    max: 2_000,
  }),
  skip_http_redirect: f.optional.flag('True: answers with the address; else redirects to it'),
  gotrue_meta_security: CAPTCHA,
}) {}

export class GoTrueSsoUrlResponse extends f.model({
  url: f.text('The page of the identity provider', {
    format: 'uri',
    example: 'https://id.example.com/saml?SAMLRequest=...',
  }),
}) {}

const MAPPING = { keys: { email: { name: 'mail' }, groups: { name: 'memberOf', array: true } } };

export class GoTrueSsoProviderDto extends f.model({
  type: f.optional.choice(['saml'], { example: 'saml' }),
  resource_id: f.optional.text('A name of your own, unique in the project', { min: 1, max: 200 }),
  disabled: f.optional.flag('Turns the provider off; default: false'),
  metadata_url: f.optional.text('Read now, and once a day', {
    max: MAX_URL,
    format: 'uri',
    example: 'https://id.example.com/saml/metadata',
    checks: [IsWebAddress()],
  }),
  metadata_xml: f.optional.text('In place of an address', { min: 1, max: MAX_DOCUMENT }),
  domains: f.optional.texts(
    'Users with these addresses sign in here, and the provider proves their addresses',
    { max: 253, maxItems: 100, example: ['example.com'] },
  ),
  attribute_mapping: f.optional.json(
    '`{keys: {<claim>: {name, names, array, default}}}`: `email` and `name` are about the user, all others become `app_metadata.custom_claims`',
    { example: MAPPING },
  ),
  name_id_format: f.optional.choice(NAME_ID_FORMATS, 'Default: none is asked for', {
    enum: [...NAME_ID_FORMATS],
  }),
}) {}

class GoTrueSamlResponse extends f.model({
  entity_id: f.text({ example: 'https://id.example.com/saml' }),
  metadata_xml: f.text({ example: '<EntityDescriptor .../>' }),
  metadata_url: f.nullable.text(),
  name_id_format: f.nullable.text(),
  attribute_mapping: f.anyObject(),
}) {}

class GoTrueSsoDomainResponse extends f.model({
  domain: f.text(),
}) {}

export class GoTrueSsoProviderResponse extends f.model({
  id: f.uuid(),
  resource_id: f.nullable.text(),
  disabled: f.flag({ example: false }),
  domains: f.list(GoTrueSsoDomainResponse, { example: [{ domain: 'example.com' }] }),
  saml: f.object(GoTrueSamlResponse),
  created_at: f.timeText(),
  updated_at: f.timeText(),
}) {}

export class GoTrueSsoProvidersResponse extends f.model({
  items: f.list(GoTrueSsoProviderResponse),
}) {}
