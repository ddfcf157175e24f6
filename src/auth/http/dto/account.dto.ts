/** Bodies of the endpoints for users. Other members of a body are dropped by the validation pipe. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsNotEmpty, IsOptional } from 'class-validator';
import { FreeJson } from '../../../http/input/free-json';
import type { JsonObject } from '../../../common/text/json';
import { LOGOUT_SCOPES, type LogoutScope } from '../../sessions/session';
import { MAX_EMAIL } from '../../accounts/email-address';
import { IsName, IsText } from './checks';

/** Characters. The password policy has a stricter limit, in bytes. */
const MAX_PASSWORD = 1_000;
const MAX_TOKEN = 1_000;

export class SignUpDto {
  @ApiProperty({ format: 'email', example: 'ada@example.com' })
  @IsText({ max: MAX_EMAIL })
  email!: string;

  @ApiProperty({ minLength: 6, description: 'At least 6 characters, at most 72 bytes of UTF-8' })
  @IsText({ max: MAX_PASSWORD })
  password!: string;

  @ApiPropertyOptional({
    type: String,
    example: 'Ada',
    description: 'Default: the part of the email before the at-sign',
  })
  @IsOptional()
  @IsName()
  name?: string | null;
}

export class SignInDto {
  @ApiProperty({ format: 'email', example: 'ada@example.com' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;

  @ApiProperty()
  @IsText({ min: 1, max: MAX_PASSWORD })
  password!: string;
}

export class RefreshDto {
  @ApiProperty()
  @IsText({ min: 1, max: MAX_TOKEN })
  refresh_token!: string;
}

export class EmailDto {
  @ApiProperty({ format: 'email', example: 'ada@example.com' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;
}

export class TokenDto {
  @ApiProperty({ description: 'From the mail' })
  @IsText({ min: 1, max: MAX_TOKEN })
  token!: string;
}

export class UpdatePasswordDto extends TokenDto {
  @ApiProperty({ minLength: 6, description: 'The new password: at least 6 characters, at most 72 bytes' })
  @IsText({ max: MAX_PASSWORD })
  password!: string;
}

export class LogoutDto {
  @ApiPropertyOptional({ enum: LOGOUT_SCOPES, default: 'local' })
  @IsOptional()
  @IsIn(LOGOUT_SCOPES)
  scope?: LogoutScope | null;
}

export class UpdateUserDto {
  @ApiPropertyOptional()
  @IsOptional()
  @IsName()
  @IsNotEmpty()
  name?: string;

  @ApiPropertyOptional({ format: 'email', description: 'Takes effect when its mailed token is confirmed' })
  @IsOptional()
  @IsText({ max: MAX_EMAIL })
  email?: string;

  @ApiPropertyOptional({ minLength: 6, description: 'Ends all other sessions' })
  @IsOptional()
  @IsText({ max: MAX_PASSWORD })
  password?: string;

  @ApiPropertyOptional({ description: 'Required with password' })
  @IsOptional()
  @IsText({ max: MAX_PASSWORD })
  current_password?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Replaces the previous data',
  })
  @IsOptional()
  @FreeJson()
  data?: JsonObject;
}
