/** Queries and bodies of the endpoints that manage users. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, NotContains } from 'class-validator';
import { FreeJson } from '../../../http/input/free-json';
import type { JsonObject } from '../../../common/text/json';
import { MAX_EMAIL } from '../../accounts/email-address';
import { USER_SORTS, type UserSort } from '../../admin/user-list.repository';
import { IsDateTime, IsName, IsText } from './checks';
import { PageQuery } from './page.dto';

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
    description: 'Until then all tokens of the user are refused; null lifts the ban',
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
