/** Bodies and answers of GoTrue's paths of passkeys. */
import { IsObject } from 'class-validator';
import type { JsonObject } from '../../../../common/text/json';
import { FREE_OBJECT, UNIX_SECONDS } from '../../../../http/docs/documented-types';
import { FreeJson } from '../../../../http/input/free-json';
import * as f from '../../../../http/model/fields';
import { model } from '../../../../http/model/model';
const CHALLENGE_ID = 'AXJx2s9QhT4mYb7uVw0cNzK1pRfLgD8e';

export class GoTruePasskeyOptionsDto extends model({
  gotrue_meta_security: f.optional(f.json('Ignored')),
}) {}

export class GoTruePasskeyDto extends model({
  challenge_id: f.text({ min: 1, max: 2_000, example: CHALLENGE_ID }),
  credential: f.field<JsonObject>(
    {
      ...FREE_OBJECT,
      description: '`toJSON()` of the credential of the browser',
      example: { id: 'AQID', type: 'public-key' },
    },
    [FreeJson(), IsObject()],
  ),
}) {}

export class GoTruePasskeyNameDto extends model({
  friendly_name: f.text({ min: 1, max: 120, example: 'Phone' }),
}) {}

export class GoTruePasskeyChallengeResponse extends model({
  challenge_id: f.text({ example: CHALLENGE_ID }),
  options: f.anyObject({
    description: 'Options for the browser (WebAuthn)',
    example: { challenge: 'AQID', rpId: 'example.com' },
  }),
  expires_at: f.whole({ ...UNIX_SECONDS, example: 1_767_225_900 }),
}) {}

export class GoTruePasskeyResponse extends model({
  id: f.uuid(),
  friendly_name: f.text({ example: 'Passkey' }),
  created_at: f.timeText(),
  last_used_at: f.optional(f.timeText()),
}) {}
