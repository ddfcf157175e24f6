/** The captcha that users solve before they sign up, sign in, or ask for a mail. */
import { isURL, ValidateBy } from 'class-validator';
import { isJsonObject } from '../../common/text/json';
import type { Setting } from './setting';

export const CAPTCHA_URLS = {
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
} as const;

export interface CaptchaSetting {
  readonly provider: keyof typeof CAPTCHA_URLS;
  /** As given in a request, encrypted in a stored setting, never in a response. */
  readonly secret?: string;
  /** Replaces the address of the provider. */
  readonly url?: string;
}

const MAX_TEXT = 1_000;
const PROVIDERS = Object.keys(CAPTCHA_URLS);
const URL_OPTIONS = {
  require_tld: false,
  require_protocol: true,
  protocols: ['https', 'http'],
  disallow_auth: true,
};

function isCaptcha(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { provider, secret = 'stored', url = 'https://localhost', ...others } = value;
  return (
    Object.keys(others).length === 0 &&
    typeof provider === 'string' &&
    PROVIDERS.includes(provider) &&
    [secret, url].every((text) => typeof text === 'string' && text !== '' && text.length <= MAX_TEXT) &&
    isURL(typeof url === 'string' ? url : '', URL_OPTIONS)
  );
}

export const captcha: Setting<CaptchaSetting | null> = {
  fallback: null,
  fallbackText: 'none',
  description: 'Captcha before sign-up, sign-in and mails',
  details:
    '`{provider, secret}` of `hcaptcha` or `turnstile`; the secret is never shown ([auth](auth.md#captcha)).',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      provider: { type: 'string', enum: PROVIDERS },
      secret: { type: 'string', maxLength: MAX_TEXT },
      url: { type: 'string', format: 'uri', maxLength: MAX_TEXT },
    },
  },
  checks: [
    ValidateBy({
      name: 'isCaptcha',
      validator: {
        validate: isCaptcha,
        defaultMessage: () => 'captcha must be {provider, secret} with the provider hcaptcha or turnstile',
      },
    }),
  ],
};
