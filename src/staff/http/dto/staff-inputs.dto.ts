/** Bodies of the operations on staff, their sessions, tokens and invitations. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsBooleanString,
  IsIn,
  IsInt,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { MAX_EMAIL } from '../../../identity/email-address';
import { IsName, IsText } from '../../../identity/http/checks';
import { FREE_OBJECT } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';
import { FreeJson } from '../../../http/input/free-json';
import type { JsonObject } from '../../../common/text/json';
import { INSTALL_ROLES, InstallRole, PROJECT_ROLES, ProjectRole } from '../../accounts/staff-member';
import { Scope, SCOPES } from '../../roles/route-table';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

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

class FactorProofDto {
  @OptionalProperty({
    type: String,
    nullable: true,
    maxLength: MAX_CODE,
    example: '492039',
    description: 'A code of the second factor, or a recovery code',
  })
  @IsText({ max: MAX_CODE })
  code?: string | null;
  @OptionalProperty({
    ...FREE_OBJECT,
    description: 'A passkey in place of the code: toJSON() of the credential',
  })
  @FreeJson()
  passkey?: JsonObject;
}

@Example({ email: 'ada@example.com', password: 'correct horse', code: '492039' })
export class SignInStaffDto extends FactorProofDto {
  @ApiProperty(EMAIL) @IsText({ min: 1, max: MAX_EMAIL }) email!: string;
  @ApiProperty({ minLength: 1, maxLength: MAX_PASSWORD, example: 'correct horse' })
  @IsText({ min: 1, max: MAX_PASSWORD })
  password!: string;
}

@Example({ password: 'correct horse' })
export class ConfirmSessionDto extends FactorProofDto {
  @OptionalProperty({ type: String, nullable: true, maxLength: MAX_PASSWORD, example: 'correct horse' })
  @IsText({ max: MAX_PASSWORD })
  password?: string | null;
}

@Example({ token: TOKEN, email: 'ada@example.com', password: 'correct horse', name: 'Ada' })
export class SetupDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_TOKEN, example: TOKEN, description: 'From the set-up link' })
  @IsText({ min: 1, max: MAX_TOKEN })
  token!: string;
  @ApiProperty(EMAIL) @IsText({ min: 1, max: MAX_EMAIL }) email!: string;
  @ApiProperty(NEW_PASSWORD) @IsText({ max: MAX_PASSWORD }) password!: string;
  @ApiProperty(NAME) @IsFullName() name!: string;
}

@Example({ token: TOKEN, name: 'Grace', password: 'correct horse' })
export class AcceptInvitationDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_TOKEN, example: TOKEN, description: 'The token from the mail' })
  @IsText({ min: 1, max: MAX_TOKEN })
  token!: string;
  @ApiProperty(NAME) @IsFullName() name!: string;
  @ApiProperty(NEW_PASSWORD) @IsText({ max: MAX_PASSWORD }) password!: string;
}

@Example({ current_password: 'correct horse', password: 'battery staple', end_tokens: true })
export class ChangeStaffPasswordDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_PASSWORD })
  @IsText({ min: 1, max: MAX_PASSWORD })
  current_password!: string;
  @ApiProperty(NEW_PASSWORD) @IsText({ max: MAX_PASSWORD }) password!: string;
  @ApiPropertyOptional({ description: 'True ends all personal access tokens of the staff member as well' })
  @ValidateIf((_body, value: unknown) => value !== undefined)
  @IsBoolean()
  end_tokens?: boolean;
}

@Example({ code: '492039' })
export class FactorCodeDto {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_CODE,
    example: '492039',
    description: 'Six digits from the app; a recovery code also works for removing the factor',
  })
  @IsText({ min: 1, max: MAX_CODE })
  code!: string;
}

@Example({ password: 'correct horse' })
export class BeginFactorDto {
  @OptionalProperty({
    type: String,
    nullable: true,
    maxLength: MAX_PASSWORD,
    example: 'correct horse',
    description: 'Required unless the staff member signs in by single sign-on only',
  })
  @IsText({ max: MAX_PASSWORD })
  password?: string | null;
}

@Example({ role: 'operator' })
export class UpdateStaffMemberDto {
  @ApiPropertyOptional({
    type: String,
    enum: INSTALL_ROLES,
    nullable: true,
    description: 'Null removes the role of the installation',
  })
  @ValidateIf((_body, value: unknown) => value !== undefined && value !== null)
  @IsIn(INSTALL_ROLES)
  role?: InstallRole | null;
  @ApiPropertyOptional(NAME)
  @ValidateIf((_body, value: unknown) => value !== undefined)
  @IsFullName()
  name?: string;
  @ApiPropertyOptional({
    description: 'True ends all sessions and tokens of the staff member at once and prevents sign-in',
  })
  @ValidateIf((_body, value: unknown) => value !== undefined)
  @IsBoolean()
  disabled?: boolean;
  @ApiPropertyOptional({
    description:
      'True also changes the password of the owner role of each database that the staff member may know, and ends its sessions',
  })
  @ValidateIf((_body, value: unknown) => value !== undefined)
  @IsBoolean()
  rotate_database_password?: boolean;
}

@Example({ role: 'developer' })
export class ProjectRoleDto {
  @ApiProperty({ enum: PROJECT_ROLES }) @IsIn(PROJECT_ROLES) role!: ProjectRole;
  @ApiPropertyOptional({
    description: "True also changes the password of the database's owner role, and ends its sessions",
  })
  @ValidateIf((_body, value: unknown) => value !== undefined)
  @IsBoolean()
  rotate_database_password?: boolean;
}

export class RotatePasswordQuery {
  @OptionalProperty({
    type: Boolean,
    description:
      "True also changes the password of the database's owner role, of a deleted account those of all databases that it may know, and ends the role's sessions",
  })
  @IsBooleanString()
  rotate_database_password?: 'true' | 'false' | '1' | '0';
}

export class InviteToProjectDto {
  @ApiProperty({ description: 'The id of the project', maxLength: 100, example: PROJECT_ID })
  @IsText({ min: 1, max: 100 })
  id!: string;
  @ApiProperty({ enum: PROJECT_ROLES }) @IsIn(PROJECT_ROLES) role!: ProjectRole;
}

@Example({ email: 'grace@example.com', projects: [{ id: PROJECT_ID, role: 'developer' }] })
export class InviteDto {
  @ApiProperty({ ...EMAIL, example: 'grace@example.com' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;
  @OptionalProperty({
    type: String,
    enum: INSTALL_ROLES,
    nullable: true,
    description: 'Role of the installation; default: none',
  })
  @IsIn(INSTALL_ROLES)
  role?: InstallRole | null;
  @ApiPropertyOptional({ type: [InviteToProjectDto], maxItems: MAX_PROJECTS, description: 'Default: none' })
  @ValidateIf((_body, value: unknown) => value !== undefined)
  @IsArray()
  @ArrayMaxSize(MAX_PROJECTS)
  @ValidateNested({ each: true })
  @Type(() => InviteToProjectDto)
  projects?: InviteToProjectDto[];
}

@Example({ name: 'CI', scopes: ['read', 'sql'], project_id: PROJECT_ID, expires_in: 30 * DAY_SECONDS })
export class CreateTokenDto {
  @ApiProperty({ ...NAME, example: 'CI' }) @IsFullName() name!: string;
  @ApiProperty({
    enum: SCOPES,
    isArray: true,
    minItems: 1,
    maxItems: SCOPES.length,
    description: 'docs/reference/access.md lists the scope of each route; no scope includes another',
  })
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(SCOPES.length)
  @IsIn(SCOPES, { each: true })
  scopes!: Scope[];
  @OptionalProperty({
    type: String,
    nullable: true,
    maxLength: 100,
    example: PROJECT_ID,
    description: 'The only project that the token is for; default: all projects of the staff member',
  })
  @IsText({ max: 100 })
  project_id?: string | null;
  @ApiProperty({
    type: 'integer',
    minimum: 60,
    maximum: 366 * DAY_SECONDS,
    example: 30 * DAY_SECONDS,
    description: 'Seconds until the token expires',
  })
  @IsInt()
  @Min(60)
  @Max(366 * DAY_SECONDS)
  expires_in!: number;
}
