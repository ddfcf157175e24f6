/** Bodies and answers of GoTrue's paths of passkeys. */
import { UNIX_SECONDS, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import * as f from '../../../../http/model/fields';
import { CAPTCHA } from '../../captcha.interceptor';

export class GoTruePasskeyOptionsDto extends f.model({
  gotrue_meta_security: CAPTCHA,
}) {}

export class GoTruePasskeyDto extends f.model({
  challenge_id: f.text({ min: 1, max: 100, format: 'uuid', example: UUID_EXAMPLE }),
  credential: f.json('`toJSON()` of the credential of the browser', {
    example: { id: 'AQID', type: 'public-key' },
  }),
}) {}

export class GoTruePasskeyNameDto extends f.model({
  friendly_name: f.text({ min: 1, max: 120, example: 'Phone' }),
}) {}

export class GoTruePasskeyChallengeResponse extends f.model({
  challenge_id: f.uuid(),
  options: f.anyObject('Options for the browser (WebAuthn)', {
    example: { challenge: 'AQID', rpId: 'example.com' },
  }),
  expires_at: f.whole({ ...UNIX_SECONDS, example: 1_767_225_900 }),
}) {}

export class GoTruePasskeyResponse extends f.model({
  id: f.uuid(),
  friendly_name: f.text({ example: 'Passkey' }),
  created_at: f.timeText(),
  last_used_at: f.optional.timeText(),
}) {}
