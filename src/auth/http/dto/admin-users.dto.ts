/** Queries and bodies of the endpoints that manage users. */
import { NotContains } from 'class-validator';
import { MAX_EMAIL } from '../../../identity/email-address';
import { USER_SORTS } from '../../admin/admin-users.repository';
import { IsDateTime } from '../../../identity/http/checks';
import { AUDIT_ACTIONS } from '../../audit/audit-entry';
import * as f from '../../../http/model/fields';

const PER_PAGE = 50;
const MAX_PAGE = 1_000_000;

export class PageQuery extends f.model({
  page: f.optional.digits(1, MAX_PAGE, 'Default: 1'),
  per_page: f.optional.digits(1, 1_000, `Default: ${PER_PAGE}`),
}) {}

export function pageOf({ page = 1, per_page: perPage = PER_PAGE }: PageQuery): {
  limit: number;
  offset: number;
} {
  const limit = Number(perPage);
  return { limit, offset: (Number(page) - 1) * limit };
}

export class ListUsersQuery extends f.model(PageQuery, {
  search: f.optional.text('Part of the email address or the name', {
    max: MAX_EMAIL,
    checks: [NotContains('\0')],
  }),
  sort: f.optional.choice(USER_SORTS, 'Default: created_at'),
  order: f.optional.choice(['asc', 'desc'], 'Default: desc'),
}) {}

class UserFieldsDto extends f.model({
  name: f.optional.text({ max: 200, example: 'Ada' }),
  data: f.optional.json('Replaces the previous data'),
  password: f.optional.text('At most 72 bytes; ends all sessions of the user', {
    max: 1_000,
    minLength: 6,
    maxLength: 72,
  }),
  password_hash: f.optional.text(
    'As another system exported it: bcrypt ($2a$, $2b$, $2y$), $argon2id$, $pbkdf2-sha256$ or $fbscrypt$',
    { max: 1_000 },
  ),
  email_verified: f.optional.flag('Whether the address counts as confirmed'),
  banned_until: f.optional(
    f.nullable(
      f.field<string>(
        {
          type: String,
          format: 'date-time',
          description: 'Until then all tokens of the user are refused; null lifts the ban',
        },
        [IsDateTime()],
      ),
    ),
  ),
}) {}

@f.Example({ name: 'Ada Lovelace', banned_until: '2027-01-01T00:00:00Z' })
export class UpdateAdminUserDto extends f.model(UserFieldsDto, {
  email: f.optional.text({ max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
}) {}

@f.Example({ email: 'ada@example.com', password: 'correct horse', name: 'Ada', email_verified: true })
export class CreateAdminUserDto extends f.model(UserFieldsDto, {
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
}) {}

export class InviteUserDto extends f.model({
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
  name: f.optional.text({ max: 200, example: 'Ada' }),
  data: f.optional.json('Application-defined JSON about the user'),
}) {}

export class ListAuditQuery extends f.model(PageQuery, {
  action: f.optional.choice(AUDIT_ACTIONS, 'Only entries of this action'),
  user_id: f.optional.uuid('Only entries about this user'),
}) {}
