/** Answers about staff, their sessions, tokens and invitations. */
import { ApiProperty, OmitType } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { INSTALL_ROLES, InstallRole, PROJECT_ROLES, ProjectRole } from '../../accounts/staff-member';
import { Scope, SCOPES } from '../../roles/route-table';

const AT = '2026-01-01T08:00:00.000Z';
const LATER = '2026-01-08T08:00:00.000Z';
const PROJECT_ID = 'k3v9x0a1b2c3d4e5f6g7';
const MEMBERSHIP = { id: PROJECT_ID, slug: 'acme', role: 'admin' };
const TOKEN = {
  id: UUID_EXAMPLE,
  name: 'CI',
  scopes: ['read', 'sql'],
  project_id: PROJECT_ID,
  created_at: AT,
  expires_at: LATER,
  last_used_at: null,
};
const ROLE_OF_INSTALL = {
  enum: INSTALL_ROLES,
  type: String,
  nullable: true,
  description: 'Role of the installation; null: roles of projects only',
} as const;
const DATE = { type: String, format: 'date-time' } as const;

class SessionStaffResponse {
  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Null for PLATFORM_ADMIN_KEY' })
  readonly id!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'ada@example.com' }) readonly email!: string | null;
  @ApiProperty({ example: 'Ada' }) readonly name!: string;
  @ApiProperty(ROLE_OF_INSTALL) readonly role!: InstallRole | null;
  @ApiProperty({ description: 'True if signing in needs a second factor' }) readonly has_factor!: boolean;
  @ApiProperty({ description: 'True if one of them is an authenticator app' }) readonly has_app!: boolean;
}

@Example(MEMBERSHIP)
export class MembershipResponse {
  @ApiProperty({ description: 'The id of the project' }) readonly id!: string;
  @ApiProperty({ example: 'acme' }) readonly slug!: string;
  @ApiProperty({ enum: PROJECT_ROLES }) readonly role!: ProjectRole;
}

@Example({
  person: {
    id: UUID_EXAMPLE,
    email: 'ada@example.com',
    name: 'Ada',
    role: 'owner',
    has_factor: true,
    has_app: false,
  },
  projects: [MEMBERSHIP],
  csrf_token: 'sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2',
  expires_at: LATER,
})
export class StaffSessionResponse {
  @ApiProperty({ type: SessionStaffResponse }) readonly person!: SessionStaffResponse;
  @ApiProperty({
    type: [MembershipResponse],
    description: 'The projects that the staff member has a role in',
  })
  readonly projects!: readonly MembershipResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Sent as X-CSRF-Token with every change; null without a cookie',
  })
  readonly csrf_token!: string | null;
  @ApiProperty({
    ...DATE,
    nullable: true,
    description: 'When the session or token expires; null for PLATFORM_ADMIN_KEY',
  })
  readonly expires_at!: Date | null;
}

@Example({
  id: UUID_EXAMPLE,
  is_current: true,
  created_at: AT,
  last_used_at: AT,
  expires_at: LATER,
  address: '192.0.2.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
})
export class StaffSessionInfoResponse {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ description: 'True for the session of this request' }) readonly is_current!: boolean;
  @ApiProperty(DATE) readonly created_at!: Date;
  @ApiProperty({ ...DATE, description: 'Accurate to the minute' }) readonly last_used_at!: Date;
  @ApiProperty({ ...DATE, description: 'The latest time at which the session ends' })
  readonly expires_at!: Date;
  @ApiProperty({ type: String, nullable: true, description: 'Client address at the sign-in' })
  readonly address!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Browser at the sign-in' })
  readonly user_agent!: string | null;
}

@Example({ password: true, passkey: true, oidc_issuer: 'id.example.com' })
export class SignInMethodsResponse {
  @ApiProperty({ description: 'Whether email and password can be used' }) readonly password!: boolean;
  @ApiProperty({ description: 'Whether passkeys can be used' }) readonly passkey!: boolean;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Host of the issuer of single sign-on; null: single sign-on is not set up',
  })
  readonly oidc_issuer!: string | null;
}

@Example({ needed: true })
export class SetupNeededResponse {
  @ApiProperty({ description: 'True while the installation has no owner' }) readonly needed!: boolean;
}

@Example({
  link: 'https://plinth.example.com/console/setup#Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo',
  expires_at: AT,
})
export class SetupLinkResponse {
  @ApiProperty({ description: 'Creates the first owner; works once' }) readonly link!: string;
  @ApiProperty(DATE) readonly expires_at!: Date;
}

const PERSON = {
  id: UUID_EXAMPLE,
  email: 'ada@example.com',
  name: 'Ada',
  role: 'operator',
  has_factor: true,
  disabled_at: null,
  created_at: AT,
  last_sign_in_at: AT,
};

@Example(PERSON)
export class StaffMemberResponse {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ example: 'ada@example.com' }) readonly email!: string;
  @ApiProperty({ example: 'Ada' }) readonly name!: string;
  @ApiProperty(ROLE_OF_INSTALL) readonly role!: InstallRole | null;
  @ApiProperty({ description: 'True if signing in needs a second factor' }) readonly has_factor!: boolean;
  @ApiProperty({ ...DATE, nullable: true, description: 'When the account was disabled; null if it is not' })
  readonly disabled_at!: Date | null;
  @ApiProperty(DATE) readonly created_at!: Date;
  @ApiProperty({ ...DATE, nullable: true }) readonly last_sign_in_at!: Date | null;
}

@Example({ ...PERSON, role: null, project_role: 'developer' })
export class ProjectMemberResponse extends OmitType(StaffMemberResponse, ['has_factor'] as const) {
  @ApiProperty({
    type: Boolean,
    nullable: true,
    description:
      'True if signing in needs a second factor. This, the role of the installation and the last sign-in are null for developers and viewers',
  })
  readonly has_factor!: boolean | null;
  @ApiProperty({ enum: PROJECT_ROLES, description: 'Role in this project' })
  readonly project_role!: ProjectRole;
}

class InvitedProjectResponse {
  @ApiProperty({ description: 'The id of the project' }) readonly id!: string;
  @ApiProperty({ enum: PROJECT_ROLES }) readonly role!: ProjectRole;
}

const INVITATION = {
  id: UUID_EXAMPLE,
  email: 'grace@example.com',
  role: null,
  projects: [{ id: PROJECT_ID, role: 'developer' }],
  invited_by: 'ada@example.com',
  created_at: AT,
  expires_at: LATER,
};

@Example(INVITATION)
export class InvitationResponse {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ example: 'grace@example.com' }) readonly email!: string;
  @ApiProperty(ROLE_OF_INSTALL) readonly role!: InstallRole | null;
  @ApiProperty({ type: [InvitedProjectResponse] }) readonly projects!: readonly InvitedProjectResponse[];
  @ApiProperty({ type: String, nullable: true, description: 'Null: invited with PLATFORM_ADMIN_KEY' })
  readonly invited_by!: string | null;
  @ApiProperty(DATE) readonly created_at!: Date;
  @ApiProperty(DATE) readonly expires_at!: Date;
}

@Example({ ...INVITATION, mailed: true, link: null })
export class CreatedInvitationResponse extends InvitationResponse {
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The link of the invitation if no SMTP_URL is set and the sender is an operator; otherwise null, because only the invited person gets it',
  })
  readonly link!: string | null;
  @ApiProperty({ description: 'False without SMTP_URL: the mail is a file in the data directory' })
  readonly mailed!: boolean;
}

@Example(TOKEN)
export class StaffTokenResponse {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ example: 'CI' }) readonly name!: string;
  @ApiProperty({ enum: SCOPES, isArray: true }) readonly scopes!: readonly Scope[];
  @ApiProperty({ type: String, nullable: true, description: 'Null: all projects of the staff member' })
  readonly project_id!: string | null;
  @ApiProperty(DATE) readonly created_at!: Date;
  @ApiProperty(DATE) readonly expires_at!: Date;
  @ApiProperty({ ...DATE, nullable: true, description: 'Accurate to the minute' })
  readonly last_used_at!: Date | null;
}

@Example({ ...TOKEN, token: 'plt_sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2sXo0Zb6dV1y' })
export class CreatedTokenResponse extends StaffTokenResponse {
  @ApiProperty({ description: 'The token; not shown again' }) readonly token!: string;
}

@Example({
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  uri: 'otpauth://totp/Plinth:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Plinth',
})
export class FactorSecretResponse {
  @ApiProperty({ description: 'Base32, to type into the app; not shown again' }) readonly secret!: string;
  @ApiProperty({
    description: 'For a QR code',
    example: 'otpauth://totp/Plinth:ada%40example.com?secret=...',
  })
  readonly uri!: string;
}

@Example({ recovery_codes: ['k7mp-2xqa-9fht-w3ce'] })
export class RecoveryCodesResponse {
  @ApiProperty({
    type: [String],
    description: 'Each can be used once in place of a code from the app; not shown again',
  })
  readonly recovery_codes!: readonly string[];
}
