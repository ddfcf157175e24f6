/** Bodies and answers of GoTrue's paths of passkeys. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import type { JsonObject } from '../../../../common/text/json';
import { FREE_OBJECT, UNIX_SECONDS, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { Example } from '../../../../http/docs/example.decorator';
import { FreeJson } from '../../../../http/input/free-json';
import { IsText } from '../../../../identity/http/checks';
import { CaptchaMember } from '../../captcha.interceptor';

const AT = '2026-01-01T08:00:00.000Z';

@Example({})
export class GoTruePasskeyOptionsDto {
  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

@Example({ challenge_id: UUID_EXAMPLE, credential: { id: 'AQID', type: 'public-key' } })
export class GoTruePasskeyDto {
  @ApiProperty({ format: 'uuid' })
  @IsText({ min: 1, max: 100 })
  challenge_id!: string;

  @ApiProperty({ ...FREE_OBJECT, description: '`toJSON()` of the credential of the browser' })
  @IsObject()
  @FreeJson()
  credential!: JsonObject;
}

@Example({ friendly_name: 'Phone' })
export class GoTruePasskeyNameDto {
  @ApiProperty({ maxLength: 120, example: 'Phone' })
  @IsText({ min: 1, max: 120 })
  friendly_name!: string;
}

@Example({
  challenge_id: UUID_EXAMPLE,
  options: { challenge: 'AQID', rpId: 'example.com' },
  expires_at: 1_767_225_900,
})
export class GoTruePasskeyChallengeResponse {
  @ApiProperty({ format: 'uuid' }) challenge_id!: string;
  @ApiProperty({ ...FREE_OBJECT, description: 'Options for the browser (WebAuthn)' }) options!: object;
  @ApiProperty({ ...UNIX_SECONDS }) expires_at!: number;
}

@Example({ id: UUID_EXAMPLE, friendly_name: 'Passkey', created_at: AT })
export class GoTruePasskeyResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() friendly_name!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiPropertyOptional({ format: 'date-time' }) last_used_at?: string;
}
