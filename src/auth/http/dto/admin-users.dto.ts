/** Queries and bodies of the endpoints that manage users. */
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsUUID, NotContains } from 'class-validator';
import { FreeJson } from '../../../http/input/free-json';
import type { JsonObject } from '../../../common/text/json';
import { MAX_EMAIL } from '../../../identity/email-address';
import { USER_SORTS, type UserSort } from '../../admin/user-list.repository';
import { IsDateTime, IsName, IsText } from '../../../identity/http/checks';
import { Example } from '../../../http/docs/example.decorator';
import { FREE_OBJECT } from '../../../http/docs/documented-types';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';
import { AUDIT_ACTIONS, type AuditAction } from '../../audit/audit-entry';
import { WholeNumber } from '../../../http/input/whole-number';

const PER_PAGE = 50;
const MAX_PAGE = 1_000_000;

export class PageQuery {
  @OptionalProperty({ description: 'Default: 1' })
  @WholeNumber(1, MAX_PAGE)
  page?: number;

  @OptionalProperty({ description: `Default: ${PER_PAGE}` })
  @WholeNumber(1, 1_000)
  per_page?: number;
}

export function pageOf({ page = 1, per_page: perPage = PER_PAGE }: PageQuery): {
  limit: number;
  offset: number;
} {
  const limit = Number(perPage);
  return { limit, offset: (Number(page) - 1) * limit };
}

export class ListUsersQuery extends PageQuery {
  @OptionalProperty({ description: 'Part of the email address or the name' })
  @IsText({ max: MAX_EMAIL })
  @NotContains('\0')
  search?: string;

  @OptionalProperty({ enum: USER_SORTS, description: 'Default: created_at' })
  @IsIn(USER_SORTS)
  sort?: UserSort;

  @OptionalProperty({ enum: ['asc', 'desc'], description: 'Default: desc' })
  @IsIn(['asc', 'desc'])
  order?: 'asc' | 'desc';
}

class UserFieldsDto {
  @OptionalProperty({ maxLength: 200, example: 'Ada' })
  @IsName()
  name?: string;

  @OptionalProperty({ ...FREE_OBJECT, description: 'Replaces the previous data' })
  @FreeJson()
  data?: JsonObject;

  @OptionalProperty({
    minLength: 6,
    maxLength: 72,
    description: 'At most 72 bytes; ends all sessions of the user',
  })
  @IsText({ max: 1_000 })
  password?: string;

  @OptionalProperty({
    description:
      'As another system exported it: bcrypt ($2a$, $2b$, $2y$), $argon2id$, $pbkdf2-sha256$ or $fbscrypt$',
  })
  @IsText({ max: 1_000 })
  password_hash?: string;

  @OptionalProperty({ description: 'Whether the address counts as confirmed' })
  @IsBoolean()
  email_verified?: boolean;

  @OptionalProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Until then all tokens of the user are refused; null lifts the ban',
  })
  @IsDateTime()
  banned_until?: string | null;
}

@Example({ name: 'Ada Lovelace', banned_until: '2027-01-01T00:00:00Z' })
export class UpdateAdminUserDto extends UserFieldsDto {
  @OptionalProperty({ format: 'email', maxLength: MAX_EMAIL, example: 'ada@example.com' })
  @IsText({ max: MAX_EMAIL })
  email?: string;
}

@Example({ email: 'ada@example.com', password: 'correct horse', name: 'Ada', email_verified: true })
export class CreateAdminUserDto extends UserFieldsDto {
  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: 'ada@example.com' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;
}

@Example({ email: 'ada@example.com', name: 'Ada' })
export class InviteUserDto {
  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: 'ada@example.com' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;

  @OptionalProperty({ maxLength: 200, example: 'Ada' })
  @IsName()
  name?: string;

  @OptionalProperty({ ...FREE_OBJECT, description: 'Application-defined JSON about the user' })
  @FreeJson()
  data?: JsonObject;
}

export class ListAuditQuery extends PageQuery {
  @OptionalProperty({ enum: AUDIT_ACTIONS, description: 'Only entries of this action' })
  @IsIn(AUDIT_ACTIONS)
  action?: AuditAction;

  @OptionalProperty({ format: 'uuid', description: 'Only entries about this user' })
  @IsUUID()
  user_id?: string;
}
