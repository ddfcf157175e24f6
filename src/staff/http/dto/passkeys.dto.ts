/** Bodies and answers about passkeys. Credentials and options are JSON as WebAuthn defines it (toJSON() in browsers). */
import { fullName } from './staff-inputs.dto';
import * as f from '../../../http/model/fields';
const CREDENTIAL = {
  id: 'mN3xk0a1b2c3d4e5f6g7',
  rawId: 'mN3xk0a1b2c3d4e5f6g7',
  type: 'public-key',
  response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0' },
  clientExtensionResults: {},
};

export class PasskeyOptionsResponse extends f.model({
  options: f.anyObject('For navigator.credentials, after PublicKeyCredential.parse...OptionsFromJSON()', {
    example: { challenge: 'q83vEjRWeJCrze8SNFZ4kA', rpId: 'plinth.example.com', timeout: 60_000 },
  }),
}) {}

export class PasskeySignInDto extends f.model({
  credential: f.json('toJSON() of the credential', { example: CREDENTIAL }),
}) {}

@f.Example({ name: 'Laptop', credential: CREDENTIAL })
export class EnrolPasskeyDto extends f.model({
  name: fullName('Laptop'),
  credential: f.json('toJSON() of the credential'),
}) {}

export class RenamePasskeyDto extends f.model({
  name: fullName('Old laptop'),
}) {}

export class PasskeyResponse extends f.model({
  id: f.uuid(),
  name: f.text({ example: 'Laptop' }),
  created_at: f.time(),
  last_used_at: f.nullable.time(),
}) {}

export class EnrolledPasskeyResponse extends f.model(PasskeyResponse, {
  recovery_codes: f.texts(
    'Each can be used once in place of a second factor; not shown again. Empty if the account already has recovery codes',
    { example: ['k7mp-2xqa-9fht-w3ce'] },
  ),
}) {}
