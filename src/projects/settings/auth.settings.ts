/** Settings of accounts, sessions and mails. */
import { IsObject, Matches, MaxLength, NotContains } from 'class-validator';
import { JWT_ALGORITHMS } from '../signing-keys';
import { LANGUAGE_TAG } from '../../common/text/language-tag';
import { hook } from './hook.setting';
import { captcha } from './captcha.setting';
import { ldap } from './ldap.setting';
import { trustedIssuers } from './trusted-issuers.setting';
import { choice, flag, integer, list, type Setting, text, url } from './setting';

const DAY = 86_400;

/** Users who need a second factor: none, those who have set one up, or all. */
const SECOND_FACTOR_RULES = ['never', 'enrolled', 'always'] as const;

interface MailTemplate {
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
}

/** MailTemplateCheck validates the templates themselves. */
const mailTemplates: Setting<Readonly<Record<string, MailTemplate>>> = {
  fallback: {},
  fallbackText: 'built in',
  description: 'Mail templates by kind',
  details:
    '`{kind: {subject, text, html}}`, also by language (`reset.de`); each is rendered once before it is saved, see [auth](auth.md).',
  schema: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: { subject: { type: 'string' }, text: { type: 'string' }, html: { type: 'string' } },
    },
  },
  checks: [IsObject()],
};

export const AUTH_SETTINGS = {
  signup_enabled: flag({ fallback: true, description: 'Allows sign-up' }),

  email_verification_required: flag({
    fallback: false,
    description: 'Requires a verified e-mail address for sign-in',
  }),

  access_token_lifetime: integer({
    fallback: 3_600,
    description: 'Seconds for which an access token is valid',
    minimum: 60,
    maximum: DAY,
  }),

  refresh_token_lifetime: integer({
    fallback: 30 * DAY,
    description: 'Seconds without a refresh after which a session ends',
    minimum: 300,
    maximum: 365 * DAY,
  }),

  jwt_algorithm: choice({
    fallback: 'HS256',
    description: "Algorithm that signs users' access tokens",
    details:
      'New projects have `ES256`. The two keys of the project stay HS256. A change ends no session ([auth](auth.md)).',
    values: JWT_ALGORITHMS,
  }),

  backend_tokens_enabled: flag({
    fallback: true,
    description: "Accepts tokens that the project's own backend signed with `jwt_secret`",
    details:
      'Where it is false, the two keys are the only tokens of `jwt_secret`; `jwt_algorithm` must not be `HS256`.',
  }),

  trusted_issuers: trustedIssuers,

  custom_access_token_hook: hook('Adds claims to access tokens, in place of `auth.custom_claims`'),

  before_user_created_hook: hook('May refuse a sign-up'),

  password_verification_attempt_hook: hook(
    'Is called after each password check of a sign-in, and may refuse it',
  ),

  mfa_verification_attempt_hook: hook('Is called after each check of a second factor, and may refuse it'),

  send_sms_hook: hook('Sends codes to phones, and allows sign-in with them'),

  sms_per_hour: integer({
    fallback: 30,
    description: 'Maximum number of messages to phones in an hour, a quarter of them for one client address',
    minimum: 1,
    maximum: 1_000_000,
  }),

  send_email_hook: hook('Sends the mails of accounts, in place of SMTP'),

  ldap,

  passkeys_enabled: flag({ fallback: false, description: 'Allows sign-in with passkeys' }),

  webauthn_rp_id: text({
    fallback: null,
    fallbackText: 'the host of the origin',
    description: 'Domain of passkeys: they work on it and its subdomains',
    details: 'An origin elsewhere is a domain by itself ([auth](auth.md#passkeys)).',
    maxLength: 253,
    checks: [
      Matches(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, { message: 'webauthn_rp_id must be a domain in lower case' }),
    ],
  }),

  webauthn_rp_name: text({
    fallback: null,
    fallbackText: 'the name of the project',
    description: 'Name that browsers show with passkeys',
    maxLength: 200,
  }),

  webauthn_origins: list({
    fallback: [],
    fallbackText: 'that of `site_url`',
    description: 'Further origins where passkeys are used',
    maxItems: 20,
    checks: [Matches(/^https?:\/\/[^\s/?#@]+$/, { each: true }), MaxLength(300, { each: true })],
  }),

  magic_link_enabled: {
    ...flag({ fallback: false, description: 'Allows sign-in with a link or code by mail (`/auth/v1/otp`)' }),
    fallback: null,
    fallbackText: 'whether there is a `site_url`',
  } as Setting<boolean | null>,

  anonymous_signin_enabled: flag({ fallback: false, description: 'Allows anonymous users' }),

  anonymous_user_lifetime: integer({
    fallback: null,
    fallbackText: 'none',
    description: 'Days after which anonymous users are deleted',
    minimum: 1,
    maximum: 3_650,
  }),

  manual_linking_enabled: flag({
    fallback: false,
    description: 'Allows signed-in users to link and unlink identities',
  }),

  new_device_mails: flag({
    fallback: false,
    description: 'Mails a user about the first sign-in from a device',
    details:
      'A device is a client on a network, as far as sessions of the last weeks tell ([auth](auth.md#new-devices)).',
  }),

  reauthentication_required: flag({
    fallback: false,
    description:
      'Requires a session younger than a day for a new passkey or identity, and for a new password through `/auth/v1/user`, which takes a mailed code instead',
  }),

  site_url: url({
    fallback: null,
    fallbackText: 'none',
    description: 'Address of the application: links in mails of `/auth/v1` lead there by default',
  }),

  redirect_urls: list({
    fallback: [],
    fallbackText: 'none',
    description: 'Further addresses to which links in mails of `/auth/v1` may lead',
    details: '`*` stands for any characters but `.` and `/`, `**` for any, `?` for one ([auth](auth.md)).',
    maxItems: 100,
    checks: [MaxLength(1_000, { each: true }), Matches(/^[a-z][a-z0-9+.-]*:\S+$/i, { each: true })],
  }),

  oauth_server_enabled: flag({
    fallback: false,
    description: 'Lets other applications sign in with accounts of the project (OAuth 2.1)',
    details: 'See [auth](auth.md#other-applications).',
  }),

  oauth_registration_enabled: flag({
    fallback: false,
    description: 'Lets applications register themselves (RFC 7591)',
  }),

  oauth_consent_url: url({
    fallback: null,
    fallbackText: 'none',
    description:
      'Page of the project that asks users about other applications, with `?authorization_id=` added',
  }),

  // Never below 6; bcrypt takes 72 bytes.
  password_min_length: integer({
    fallback: 6,
    description: 'Minimum number of characters of a password',
    minimum: 6,
    maximum: 72,
  }),

  refuse_common_passwords: flag({
    fallback: false,
    description: 'Refuses the most common passwords',
  }),

  refuse_breached_passwords: flag({
    fallback: false,
    description: 'Refuses new passwords that are known from breaches',
    details:
      'Five digits of the hash go to `BREACHED_PASSWORDS_URL` ([auth](auth.md#settings-of-a-project)).',
  }),

  captcha,

  mfa_required: choice({
    fallback: 'enrolled',
    description: 'Users who need a second factor for table REST and storage',
    details: '`never`: none; `enrolled`: those with a second factor; `always`: all ([auth](auth.md)).',
    values: SECOND_FACTOR_RULES,
  }),

  allowed_email_domains: list({
    fallback: [],
    fallbackText: 'any',
    description: 'Only these domains may sign up; empty: any',
    maxItems: 1_000,
    checks: [NotContains('@', { each: true })],
  }),

  reset_redirect_url: url({
    fallback: null,
    fallbackText: "Plinth's own page",
    description: 'Page that the reset mail links to, with `?token=` added',
  }),

  verify_redirect_url: url({
    fallback: null,
    fallbackText: "Plinth's own page",
    description: 'Page that the verification mail links to, with `?token=` added',
  }),

  mail_templates: mailTemplates,

  locale: text({
    fallback: 'en',
    description: 'Language of mails to users without their own language: a tag such as `de` or `pt-BR`',
    maxLength: 30,
    checks: [Matches(LANGUAGE_TAG, { message: 'locale must be a language tag such as de or pt-BR' })],
  }),
};
