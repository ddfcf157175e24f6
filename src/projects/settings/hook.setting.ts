/** A hook of a project: a function of its database, or an address that gets a signed call. */
import { isURL, ValidateBy } from 'class-validator';
import { isJsonObject } from '../../common/text/json';
import { isWebhookSecret } from '../../infra/outbound/standard-webhooks';
import type { Setting } from './setting';

export interface HookAddress {
  readonly url: string;
  /** As given in a request, encrypted in a stored setting, never in a response. */
  readonly secret?: string;
}

export type HookTarget = string | HookAddress;

const MAX_URL = 1_000;
/** Lower-case names outside the schemas of Plinth and PostgreSQL. */
const FUNCTION =
  /^(?!(pg_\w+|information_schema|auth|storage|extensions|plinth)\.)[a-z_][a-z0-9_]{0,62}\.[a-z_][a-z0-9_]{0,62}$/;
const URL_OPTIONS = {
  require_tld: false,
  require_protocol: true,
  protocols: ['https', 'http'],
  disallow_auth: true,
};

function isTarget(value: unknown): boolean {
  if (typeof value === 'string') return FUNCTION.test(value);
  if (!isJsonObject(value)) return false;
  const { url, secret, ...others } = value;
  if (Object.keys(others).length > 0) return false;
  if (secret !== undefined && (typeof secret !== 'string' || !isWebhookSecret(secret))) return false;
  return typeof url === 'string' && url.length <= MAX_URL && isURL(url, URL_OPTIONS);
}

export const hook = (description: string): Setting<HookTarget | null> => ({
  fallback: null,
  fallbackText: 'none',
  description,
  details:
    '`schema.function`, which takes and returns `jsonb`, or `{url, secret}` for a signed call; the secret is never shown ([auth](auth.md#hooks)).',
  schema: {
    nullable: true,
    anyOf: [
      { type: 'string', maxLength: 127 },
      {
        type: 'object',
        additionalProperties: false,
        required: ['url'],
        properties: {
          url: { type: 'string', format: 'uri', maxLength: MAX_URL },
          secret: { type: 'string', description: '`whsec_` and 24 to 64 bytes in base64' },
        },
      },
    ],
  },
  checks: [
    ValidateBy({
      name: 'isHook',
      validator: {
        validate: isTarget,
        defaultMessage: (of) =>
          `${of?.property} must name a function as schema.function, in lower case, in a schema of the project, or be {url, secret} with a secret of Standard Webhooks (whsec_...)`,
      },
    }),
  ],
});
