/** Bodies and queries of the administration of users. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
  NotContains,
} from 'class-validator';
import type { JsonObject } from '../../../common/text/json';
import { USER_SORTS, type UserSort } from '../../admin-users.repository';
import { MAIL_KINDS, type MailKind } from '../../mail/mail-kinds';
import { AUDIT_ACTIONS, type AuditAction } from '../../audit.repository';

const toNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;

export class PageQuery {
  @ApiPropertyOptional({ type: Number, minimum: 1, default: 1 })
  @IsOptional()
  @Transform(toNumber)
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  page?: number;

  @ApiPropertyOptional({ type: Number, minimum: 1, maximum: 1000, default: 50 })
  @IsOptional()
  @Transform(toNumber)
  @IsInt()
  @Min(1)
  @Max(1_000)
  per_page?: number;
}

export class ListUsersQuery extends PageQuery {
  @ApiPropertyOptional({ description: 'Part of the email or the name' })
  @IsOptional()
  @IsString()
  @MaxLength(320)
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
  @IsString()
  @MaxLength(200)
  @NotContains('\0')
  name?: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @IsOptional()
  @IsObject()
  data?: JsonObject;

  @ApiPropertyOptional({ minLength: 6, description: 'Ends all sessions of the user' })
  @IsOptional()
  @IsString()
  @MaxLength(1_000)
  password?: string;

  @ApiPropertyOptional({ description: 'bcrypt ($2a$, $2b$, $2y$), as another system exported it' })
  @IsOptional()
  @IsString()
  @MaxLength(100)
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
  @IsISO8601({ strict: true })
  banned_until?: string | null;
}

export class UpdateAdminUserDto extends UserFieldsDto {
  @ApiPropertyOptional({ format: 'email' })
  @IsOptional()
  @IsString()
  @MaxLength(320)
  email?: string;
}

export class CreateAdminUserDto extends UserFieldsDto {
  @ApiProperty({ format: 'email' })
  @IsString()
  @IsNotEmpty()
  @MaxLength(320)
  email!: string;
}

export class InviteUserDto {
  @ApiProperty({ format: 'email' })
  @IsString()
  @IsNotEmpty()
  @MaxLength(320)
  email!: string;

  @ApiPropertyOptional()
  @IsOptional()
  @IsString()
  @MaxLength(200)
  @NotContains('\0')
  name?: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @IsOptional()
  @IsObject()
  data?: JsonObject;
}

const MAX_TEMPLATE = 200_000;

export class MailPreviewDto {
  @ApiProperty({ enum: MAIL_KINDS })
  @IsIn(MAIL_KINDS)
  kind!: MailKind;

  @ApiPropertyOptional({ description: "Liquid; default: the project's own subject" })
  @IsOptional()
  @IsString()
  @MaxLength(MAX_TEMPLATE)
  subject?: string;

  @ApiPropertyOptional({ description: "Liquid; default: the project's own text" })
  @IsOptional()
  @IsString()
  @MaxLength(MAX_TEMPLATE)
  text?: string;

  @ApiPropertyOptional({ description: "Liquid; default: the project's own HTML" })
  @IsOptional()
  @IsString()
  @MaxLength(MAX_TEMPLATE)
  html?: string;
}
