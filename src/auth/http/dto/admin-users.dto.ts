/** Bodies and queries of the administration of users. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsUUID, Matches, NotContains } from 'class-validator';
import { WholeNumber } from '../../../http/input/whole-number';
import { LANGUAGE_TAG } from '../../../common/text/language-tag';
import { FreeJson } from '../../../http/input/free-json';
import type { JsonObject } from '../../../common/text/json';
import { USER_SORTS, type UserSort } from '../../admin-users.repository';
import { MAX_EMAIL } from '../../email-address';
import { MAIL_KINDS, type MailKind } from '../../mail/mail-kinds';
import { IsDateTime, IsName, IsText } from './checks';
import { AUDIT_ACTIONS, type AuditAction } from '../../audit.repository';

class PageQuery {
  @ApiPropertyOptional({ type: Number, minimum: 1, default: 1 })
  @IsOptional()
  @WholeNumber(1, 1_000_000)
  page?: number;

  @ApiPropertyOptional({ type: Number, minimum: 1, maximum: 1000, default: 50 })
  @IsOptional()
  @WholeNumber(1, 1_000)
  per_page?: number;
}

export class ListUsersQuery extends PageQuery {
  @ApiPropertyOptional({ description: 'Part of the email or the name' })
  @IsOptional()
  @IsText({ max: MAX_EMAIL })
  @NotContains('\0')
  search?: string;

  @ApiPropertyOptional({ enum: USER_SORTS, default: 'created_at' })
  @IsOptional()
  @IsIn(USER_SORTS)
  sort?: UserSort;

  @ApiPropertyOptional({ enum: ['asc', 'desc'], default: 'desc' })
  @IsOptional()
  @IsIn(['asc', 'desc'])
  order?: 'asc' | 'desc';
}

export class ListAuditQuery extends PageQuery {
  @ApiPropertyOptional({ enum: AUDIT_ACTIONS })
  @IsOptional()
  @IsIn(AUDIT_ACTIONS)
  action?: AuditAction;

  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID()
  user_id?: string;
}

class UserFieldsDto {
  @ApiPropertyOptional()
  @IsOptional()
  @IsName()
  name?: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @IsOptional()
  @FreeJson()
  data?: JsonObject;

  @ApiPropertyOptional({ minLength: 6, description: 'Ends all sessions of the user' })
  @IsOptional()
  @IsText({ max: 1_000 })
  password?: string;

  @ApiPropertyOptional({ description: 'bcrypt ($2a$, $2b$, $2y$), as another system exported it' })
  @IsOptional()
  @IsText({ max: 100 })
  password_hash?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsBoolean()
  email_verified?: boolean;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Until then no token of the user is good; null lifts the ban',
  })
  @IsOptional()
  @IsDateTime()
  banned_until?: string | null;
}

export class UpdateAdminUserDto extends UserFieldsDto {
  @ApiPropertyOptional({ format: 'email' })
  @IsOptional()
  @IsText({ max: MAX_EMAIL })
  email?: string;
}

export class CreateAdminUserDto extends UserFieldsDto {
  @ApiProperty({ format: 'email' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;
}

export class InviteUserDto {
  @ApiProperty({ format: 'email' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsName()
  name?: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @IsOptional()
  @FreeJson()
  data?: JsonObject;
}

const MAX_TEMPLATE = 200_000;

export class MailPreviewDto {
  @ApiProperty({ enum: MAIL_KINDS })
  @IsIn(MAIL_KINDS)
  kind!: MailKind;

  @ApiPropertyOptional({ example: 'de', description: "Default: the project's locale" })
  @IsOptional()
  @Matches(LANGUAGE_TAG, { message: 'language must be a tag such as de or pt-BR' })
  language?: string;

  @ApiPropertyOptional({ description: "Liquid; default: the project's own subject" })
  @IsOptional()
  @IsText({ max: MAX_TEMPLATE })
  subject?: string;

  @ApiPropertyOptional({ description: "Liquid; default: the project's own text" })
  @IsOptional()
  @IsText({ max: MAX_TEMPLATE })
  text?: string;

  @ApiPropertyOptional({ description: "Liquid; default: the project's own HTML" })
  @IsOptional()
  @IsText({ max: MAX_TEMPLATE })
  html?: string;
}
