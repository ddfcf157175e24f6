/** Bodies of the operations on staff, their sessions, tokens and invitations. */
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsBooleanString, IsIn, Matches } from 'class-validator';
import { MAX_EMAIL } from '../../../identity/email-address';
import { INSTALL_ROLES, PROJECT_ROLES } from '../../accounts/staff-member';
import { Scope, SCOPES } from '../../roles/route-table';
import * as f from '../../../http/model/fields';

/** Maximum characters. The rules for passwords have a stricter limit, in bytes. */
const MAX_PASSWORD = 1_000;
const MAX_TOKEN = 1_000;
const MAX_CODE = 40;
const MAX_PROJECTS = 100;
const DAY_SECONDS = 86_400;
const PROJECT_ID = 'k3v9x0a1b2c3d4e5f6g7';
const TOKEN = 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE';

const EMAIL = { format: 'email', minLength: 1, maxLength: MAX_EMAIL, example: 'ada@example.com' } as const;
const NEW_PASSWORD = {
  minLength: 8,
  maxLength: 72,
  example: 'correct horse',
  description: 'At least 8 characters, at most 72 bytes of UTF-8, and none of the most common passwords',
} as const;

/** A name that is not blank. */
export const fullName = (example: string) =>
  f.text({
    minLength: 1,
    max: 200,
    example,
    checks: [Matches(/\S/, { message: '$property must not be blank' })],
  });

class FactorProofDto extends f.model({
  code: f.optional(
    f.nullable.text('A code of the second factor, or a recovery code', { max: MAX_CODE, example: '492039' }),
  ),
  passkey: f.optional.json('A passkey in place of the code: toJSON() of the credential'),
}) {}

@f.Example({ email: 'ada@example.com', password: 'correct horse', code: '492039' })
export class SignInStaffDto extends f.model(FactorProofDto, {
  email: f.text({ min: 1, max: MAX_EMAIL, ...EMAIL }),
  password: f.text({ min: 1, max: MAX_PASSWORD, example: 'correct horse' }),
}) {}

@f.Example({ login: 'ada', password: 'correct horse', code: '492039' })
export class SignInStaffWithLdapDto extends f.model(FactorProofDto, {
  login: f.text('Name or address in the directory', { min: 1, max: MAX_EMAIL, example: 'ada' }),
  password: f.text({ min: 1, max: MAX_PASSWORD, example: 'correct horse' }),
}) {}

export class ConfirmSessionDto extends f.model(FactorProofDto, {
  password: f.optional(f.nullable.text({ max: MAX_PASSWORD, example: 'correct horse' })),
}) {}

@f.Example({ token: TOKEN, email: 'ada@example.com', password: 'correct horse', name: 'Ada' })
export class SetupDto extends f.model({
  token: f.text('From the set-up link', { min: 1, max: MAX_TOKEN, example: TOKEN }),
  email: f.text({ min: 1, max: MAX_EMAIL, ...EMAIL }),
  password: f.text({ max: MAX_PASSWORD, ...NEW_PASSWORD }),
  name: fullName('Ada'),
}) {}

@f.Example({ token: TOKEN, name: 'Grace', password: 'correct horse' })
export class AcceptInvitationDto extends f.model({
  token: f.text('The token from the mail', { min: 1, max: MAX_TOKEN, example: TOKEN }),
  name: fullName('Ada'),
  password: f.text({ max: MAX_PASSWORD, ...NEW_PASSWORD }),
}) {}

@f.Example({ current_password: 'correct horse', password: 'battery staple', end_tokens: true })
export class ChangeStaffPasswordDto extends f.model({
  current_password: f.text({ min: 1, max: MAX_PASSWORD }),
  password: f.text({ max: MAX_PASSWORD, ...NEW_PASSWORD }),
  end_tokens: f.omittable.flag('True ends all personal access tokens of the staff member as well'),
}) {}

export class FactorCodeDto extends f.model({
  code: f.text('Six digits from the app; a recovery code also works for removing the factor', {
    min: 1,
    max: MAX_CODE,
    example: '492039',
  }),
}) {}

export class BeginFactorDto extends f.model({
  password: f.optional(
    f.nullable.text('Required unless the staff member signs in by single sign-on only', {
      max: MAX_PASSWORD,
      example: 'correct horse',
    }),
  ),
}) {}

export class UpdateStaffMemberDto extends f.model({
  role: f.optional(
    f.nullable.choice(INSTALL_ROLES, 'Null removes the role of the installation', { example: 'operator' }),
  ),
  name: f.omittable(fullName('Ada')),
  disabled: f.omittable.flag(
    'True ends all sessions and tokens of the staff member at once and prevents sign-in',
  ),
  rotate_database_password: f.omittable.flag(
    "True also changes the owner role's password, and ends its sessions, in each database whose password the staff member may know",
  ),
}) {}

export class ProjectRoleDto extends f.model({
  role: f.choice(PROJECT_ROLES, { example: 'developer' }),
  rotate_database_password: f.omittable.flag(
    "True also changes the password of the database's owner role, and ends its sessions",
  ),
}) {}

export class RotatePasswordQuery extends f.model({
  rotate_database_password: f.optional(
    f.field<'true' | 'false' | '1' | '0'>(
      {
        type: Boolean,
        description:
          "True also changes the password of the database's owner role, of a deleted account those of all databases that it may know, and ends the role's sessions",
      },
      [IsBooleanString()],
    ),
  ),
}) {}

class InviteToProjectDto extends f.model({
  id: f.text('The id of the project', { min: 1, max: 100, example: PROJECT_ID }),
  role: f.choice(PROJECT_ROLES),
}) {}

export class InviteDto extends f.model({
  email: f.text({ min: 1, max: MAX_EMAIL, ...EMAIL, example: 'grace@example.com' }),
  role: f.optional(f.nullable.choice(INSTALL_ROLES, 'Role of the installation; default: none')),
  projects: f.omittable.list(InviteToProjectDto, 'Default: none', {
    maxItems: MAX_PROJECTS,
    example: [{ id: PROJECT_ID, role: 'developer' }],
  }),
}) {}

export class CreateTokenDto extends f.model({
  name: fullName('CI'),
  scopes: f.field<Scope[]>(
    {
      enum: SCOPES,
      isArray: true,
      minItems: 1,
      maxItems: SCOPES.length,
      description: 'docs/reference/access.md lists the scope of each route; no scope includes another',
      example: ['read', 'sql'],
    },
    [IsIn(SCOPES, { each: true }), ArrayMaxSize(SCOPES.length), ArrayNotEmpty(), IsArray()],
  ),
  project_id: f.optional(
    f.nullable.text('The only project that the token is for; default: all projects of the staff member', {
      max: 100,
      example: PROJECT_ID,
    }),
  ),
  expires_in: f.whole('Seconds until the token expires', {
    minimum: 60,
    maximum: 366 * DAY_SECONDS,
    example: 30 * DAY_SECONDS,
  }),
}) {}
