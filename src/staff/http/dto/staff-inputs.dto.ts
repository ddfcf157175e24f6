/** Bodies of the operations on staff, their sessions, tokens and invitations. */
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsBooleanString, IsIn, Matches } from 'class-validator';
import { MAX_EMAIL } from '../../../identity/email-address';
import { IsName } from '../../../identity/http/checks';
import { Example } from '../../../http/docs/example.decorator';
import { INSTALL_ROLES, PROJECT_ROLES } from '../../accounts/staff-member';
import { Scope, SCOPES } from '../../roles/route-table';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

/** Characters. The rules for passwords have a stricter limit, in bytes. */
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
const NAME = { minLength: 1, maxLength: 200, example: 'Ada' } as const;

/** A name that is not blank. */
export const IsFullName = (): PropertyDecorator => (target, property) => {
  IsName()(target, property);
  Matches(/\S/, { message: '$property must not be blank' })(target, property);
};

class FactorProofDto extends model({
  code: f.optional(
    f.nullable(
      f.text({
        max: MAX_CODE,
        example: '492039',
        description: 'A code of the second factor, or a recovery code',
      }),
    ),
  ),
  passkey: f.optional(f.json('A passkey in place of the code: toJSON() of the credential')),
}) {}

@Example({ email: 'ada@example.com', password: 'correct horse', code: '492039' })
export class SignInStaffDto extends model(FactorProofDto, {
  email: f.text({ min: 1, max: MAX_EMAIL, ...EMAIL }),
  password: f.text({ min: 1, max: MAX_PASSWORD, example: 'correct horse' }),
}) {}

@Example({ login: 'ada', password: 'correct horse', code: '492039' })
export class SignInStaffWithLdapDto extends model(FactorProofDto, {
  login: f.text({ min: 1, max: MAX_EMAIL, example: 'ada', description: 'Name or address in the directory' }),
  password: f.text({ min: 1, max: MAX_PASSWORD, example: 'correct horse' }),
}) {}

export class ConfirmSessionDto extends model(FactorProofDto, {
  password: f.optional(f.nullable(f.text({ max: MAX_PASSWORD, example: 'correct horse' }))),
}) {}

@Example({ token: TOKEN, email: 'ada@example.com', password: 'correct horse', name: 'Ada' })
export class SetupDto extends model({
  token: f.text({ min: 1, max: MAX_TOKEN, example: TOKEN, description: 'From the set-up link' }),
  email: f.text({ min: 1, max: MAX_EMAIL, ...EMAIL }),
  password: f.text({ max: MAX_PASSWORD, ...NEW_PASSWORD }),
  name: f.field<string>(NAME, [IsFullName()]),
}) {}

@Example({ token: TOKEN, name: 'Grace', password: 'correct horse' })
export class AcceptInvitationDto extends model({
  token: f.text({ min: 1, max: MAX_TOKEN, example: TOKEN, description: 'The token from the mail' }),
  name: f.field<string>(NAME, [IsFullName()]),
  password: f.text({ max: MAX_PASSWORD, ...NEW_PASSWORD }),
}) {}

@Example({ current_password: 'correct horse', password: 'battery staple', end_tokens: true })
export class ChangeStaffPasswordDto extends model({
  current_password: f.text({ min: 1, max: MAX_PASSWORD }),
  password: f.text({ max: MAX_PASSWORD, ...NEW_PASSWORD }),
  end_tokens: f.omittable(f.flag('True ends all personal access tokens of the staff member as well')),
}) {}

export class FactorCodeDto extends model({
  code: f.text({
    min: 1,
    max: MAX_CODE,
    example: '492039',
    description: 'Six digits from the app; a recovery code also works for removing the factor',
  }),
}) {}

export class BeginFactorDto extends model({
  password: f.optional(
    f.nullable(
      f.text({
        max: MAX_PASSWORD,
        example: 'correct horse',
        description: 'Required unless the staff member signs in by single sign-on only',
      }),
    ),
  ),
}) {}

export class UpdateStaffMemberDto extends model({
  role: f.optional(
    f.nullable(
      f.choice(INSTALL_ROLES, {
        description: 'Null removes the role of the installation',
        example: 'operator',
      }),
    ),
  ),
  name: f.omittable(f.field<string>(NAME, [IsFullName()])),
  disabled: f.omittable(
    f.flag('True ends all sessions and tokens of the staff member at once and prevents sign-in'),
  ),
  rotate_database_password: f.omittable(
    f.flag(
      'True also changes the password of the owner role of each database that the staff member may know, and ends its sessions',
    ),
  ),
}) {}

export class ProjectRoleDto extends model({
  role: f.choice(PROJECT_ROLES, { example: 'developer' }),
  rotate_database_password: f.omittable(
    f.flag("True also changes the password of the database's owner role, and ends its sessions"),
  ),
}) {}

export class RotatePasswordQuery extends model({
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

class InviteToProjectDto extends model({
  id: f.text({ min: 1, max: 100, description: 'The id of the project', example: PROJECT_ID }),
  role: f.choice(PROJECT_ROLES),
}) {}

export class InviteDto extends model({
  email: f.text({ min: 1, max: MAX_EMAIL, ...EMAIL, example: 'grace@example.com' }),
  role: f.optional(f.nullable(f.choice(INSTALL_ROLES, 'Role of the installation; default: none'))),
  projects: f.omittable(
    f.list(InviteToProjectDto, {
      maxItems: MAX_PROJECTS,
      description: 'Default: none',
      example: [{ id: PROJECT_ID, role: 'developer' }],
    }),
  ),
}) {}

export class CreateTokenDto extends model({
  name: f.field<string>({ ...NAME, example: 'CI' }, [IsFullName()]),
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
    f.nullable(
      f.text({
        max: 100,
        example: PROJECT_ID,
        description: 'The only project that the token is for; default: all projects of the staff member',
      }),
    ),
  ),
  expires_in: f.whole({
    minimum: 60,
    maximum: 366 * DAY_SECONDS,
    example: 30 * DAY_SECONDS,
    description: 'Seconds until the token expires',
  }),
}) {}
