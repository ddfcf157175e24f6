/** Bodies and responses of the named keys. */
import * as f from '../../../http/model/fields';
import { API_KEY_KINDS } from '../../api-keys';

const ROLE = {
  description:
    'The database role of requests whose bearer is the key: `anon`, `authenticated`, `service_role`, or a role that SQL created and granted to the login role of the project',
} as const;
const KIND = {
  description: '`publishable` for browsers and apps, which never has `service_role`; `secret` for servers',
} as const;
/** Ten years. */
const MAX_LIFETIME_SECONDS = 315_360_000;

@f.Example({ name: 'nightly report', kind: 'secret', expires_in: 7_776_000 })
export class CreateApiKeyDto extends f.model({
  name: f.text('What the key is for', { min: 1, max: 255 }),
  kind: f.choice(API_KEY_KINDS, KIND),
  role: f.optional(f.nullable.text({ min: 1, max: 63, ...ROLE, example: 'reporting' })),
  expires_in: f.optional(
    f.nullable.whole('Seconds until the key expires; default: never', {
      minimum: 60,
      maximum: MAX_LIFETIME_SECONDS,
    }),
  ),
}) {}

export class ApiKeyResponse extends f.model({
  id: f.text({ example: 'k3v9x0a1b2c3' }),
  name: f.text('What the key is for', { example: 'nightly report' }),
  kind: f.choice(API_KEY_KINDS, { ...KIND, example: 'secret' }),
  role: f.text({ ...ROLE, example: 'reporting' }),
  created_at: f.time(),
  expires_at: f.nullable.time('Null: it does not expire'),
  last_used_at: f.nullable.time('Up to a minute late; null: it was not used'),
}) {}

export class CreatedApiKeyResponse extends f.model(ApiKeyResponse, {
  key: f.text('Shown only now', {
    example: 'plinth_secret_b5q2m8x1c4v7n0k3j6h9k3v9x0a1b2c3sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2w3D5i6R9k0T',
  }),
}) {}

@f.Example({ id: 'k3v9x0a1b2c3', revoked: true })
export class RevokedApiKeyResponse extends f.model({
  id: f.text(),
  revoked: f.field<true>({ type: Boolean, enum: [true] }, [], true),
}) {}
