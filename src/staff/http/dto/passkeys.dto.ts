/** Bodies and answers about passkeys. Credentials and options are JSON as WebAuthn defines it (toJSON() in browsers). */
import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject } from '../../../common/text/json';
import { FREE_OBJECT, UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';
import { FreeJson } from '../../../http/input/free-json';
import { IsFullName } from './staff-inputs.dto';

const AT = '2026-01-01T08:00:00.000Z';
const CREDENTIAL = {
  id: 'mN3xk0a1b2c3d4e5f6g7',
  rawId: 'mN3xk0a1b2c3d4e5f6g7',
  type: 'public-key',
  response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0' },
  clientExtensionResults: {},
};
const PASSKEY = { id: UUID_EXAMPLE, name: 'Laptop', created_at: AT, last_used_at: null };
const DATE = { type: String, format: 'date-time' } as const;
const NAME = { minLength: 1, maxLength: 200, example: 'Laptop' } as const;

@Example({ options: { challenge: 'q83vEjRWeJCrze8SNFZ4kA', rpId: 'plinth.example.com', timeout: 60_000 } })
export class PasskeyOptionsResponse {
  @ApiProperty({
    ...FREE_OBJECT,
    description: 'For navigator.credentials, after PublicKeyCredential.parse...OptionsFromJSON()',
  })
  readonly options!: object;
}

@Example({ credential: CREDENTIAL })
export class PasskeySignInDto {
  @ApiProperty({ ...FREE_OBJECT, description: 'toJSON() of the credential' })
  @FreeJson()
  credential!: JsonObject;
}

@Example({ name: 'Laptop', credential: CREDENTIAL })
export class EnrolPasskeyDto {
  @ApiProperty(NAME) @IsFullName() name!: string;
  @ApiProperty({ ...FREE_OBJECT, description: 'toJSON() of the credential' })
  @FreeJson()
  credential!: JsonObject;
}

@Example({ name: 'Old laptop' })
export class RenamePasskeyDto {
  @ApiProperty(NAME) @IsFullName() name!: string;
}

@Example(PASSKEY)
export class PasskeyResponse {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ example: 'Laptop' }) readonly name!: string;
  @ApiProperty(DATE) readonly created_at!: Date;
  @ApiProperty({ ...DATE, nullable: true }) readonly last_used_at!: Date | null;
}

@Example({ ...PASSKEY, recovery_codes: ['k7mp-2xqa-9fht-w3ce'] })
export class EnrolledPasskeyResponse extends PasskeyResponse {
  @ApiProperty({
    type: [String],
    description:
      'Each can be used once in place of a second factor; not shown again. Empty if the account already has recovery codes',
  })
  readonly recovery_codes!: readonly string[];
}
