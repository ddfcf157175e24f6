/** Answers about staff, their sessions, tokens and invitations. */
import { OmitType } from '@nestjs/swagger';
import { INSTALL_ROLES, InstallRole, PROJECT_ROLES } from '../../accounts/staff-member';
import { SCOPES } from '../../roles/route-table';
import * as f from '../../../http/model/fields';
import { exampleOf } from '../../../http/docs/example.decorator';

const PROJECT_ID = 'k3v9x0a1b2c3d4e5f6g7';
const ROLE_OF_INSTALL = {
  enum: INSTALL_ROLES,
  type: String,
  nullable: true,
  description: 'Role of the installation; null: roles of projects only',
} as const;

class SessionStaffResponse extends f.model({
  id: f.nullable.uuid('Null for PLATFORM_ADMIN_KEY'),
  email: f.nullable.text({ example: 'ada@example.com' }),
  name: f.text({ example: 'Ada' }),
  role: f.field<InstallRole | null>(ROLE_OF_INSTALL, [], 'owner'),
  has_factor: f.flag('True if signing in needs a second factor'),
  has_app: f.flag('True if one of them is an authenticator app'),
}) {}

export class MembershipResponse extends f.model({
  id: f.text('The id of the project', { example: PROJECT_ID }),
  slug: f.text({ example: 'acme' }),
  role: f.choice(PROJECT_ROLES, { example: 'admin' }),
}) {}

export class StaffSessionResponse extends f.model({
  person: f.object(SessionStaffResponse),
  projects: f.list(MembershipResponse, 'The projects that the staff member has a role in'),
  csrf_token: f.nullable.text('Sent as X-CSRF-Token with every change; null without a cookie', {
    example: 'sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2',
  }),
  expires_at: f.nullable.time('When the session or token expires; null for PLATFORM_ADMIN_KEY'),
}) {}

export class StaffSessionInfoResponse extends f.model({
  id: f.uuid(),
  is_current: f.flag('True for the session of this request'),
  created_at: f.time(),
  last_used_at: f.time('Accurate to the minute'),
  expires_at: f.time('The latest time at which the session ends'),
  address: f.nullable.text('Client address at the sign-in', { example: '192.0.2.7' }),
  user_agent: f.nullable.text('Browser at the sign-in', {
    example: 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
  }),
}) {}

export class SignInMethodsResponse extends f.model({
  password: f.flag('Whether email and password can be used'),
  passkey: f.flag('Whether passkeys can be used'),
  oidc_issuer: f.nullable.text('Host of the issuer of single sign-on; null: single sign-on is not set up', {
    example: 'id.example.com',
  }),
  saml_provider: f.nullable.text('Host of the identity provider of SAML; null: SAML is not set up', {
    example: 'id.example.com',
  }),
  ldap_directory: f.nullable.text('Host of the directory of LDAP; null: LDAP is not set up', {
    example: 'dc.example.com',
  }),
}) {}

export class SetupNeededResponse extends f.model({
  needed: f.flag('True while the installation has no owner'),
}) {}

export class SetupLinkResponse extends f.model({
  link: f.text('Creates the first owner; works once', {
    example: 'https://plinth.example.com/console/setup#Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo',
  }),
  expires_at: f.time(),
}) {}

export class StaffMemberResponse extends f.model({
  id: f.uuid(),
  email: f.text({ example: 'ada@example.com' }),
  name: f.text({ example: 'Ada' }),
  role: f.field<InstallRole | null>({ ...ROLE_OF_INSTALL, example: 'operator' }),
  has_factor: f.flag('True if signing in needs a second factor'),
  disabled_at: f.nullable.time('When the account was disabled; null if it is not'),
  created_at: f.time(),
  last_sign_in_at: f.nullable.time(),
}) {}

@f.Example({ ...exampleOf(StaffMemberResponse), role: null, project_role: 'developer' })
export class ProjectMemberResponse extends f.model(OmitType(StaffMemberResponse, ['has_factor'] as const), {
  has_factor: f.nullable.flag(
    'True if signing in needs a second factor. This, the role of the installation and the last sign-in are null for developers and viewers',
  ),
  project_role: f.choice(PROJECT_ROLES, 'Role in this project'),
}) {}

class InvitedProjectResponse extends f.model({
  id: f.text('The id of the project'),
  role: f.choice(PROJECT_ROLES),
}) {}

export class InvitationResponse extends f.model({
  id: f.uuid(),
  email: f.text({ example: 'grace@example.com' }),
  role: f.field<InstallRole | null>({ ...ROLE_OF_INSTALL, example: null }),
  projects: f.list(InvitedProjectResponse, { example: [{ id: PROJECT_ID, role: 'developer' }] }),
  invited_by: f.nullable.text('Null: invited with PLATFORM_ADMIN_KEY', { example: 'ada@example.com' }),
  created_at: f.time(),
  expires_at: f.time(),
}) {}

export class CreatedInvitationResponse extends f.model(InvitationResponse, {
  link: f.nullable.text(
    'The link of the invitation if no SMTP_URL is set and the sender is an operator; otherwise null, because only the invited person gets it',
  ),
  mailed: f.flag('False without SMTP_URL: the mail is a file in the data directory'),
}) {}

export class StaffTokenResponse extends f.model({
  id: f.uuid(),
  name: f.text({ example: 'CI' }),
  scopes: f.choices(SCOPES, { example: ['read', 'sql'] }),
  project_id: f.nullable.text('Null: all projects of the staff member', { example: PROJECT_ID }),
  created_at: f.time(),
  expires_at: f.time(),
  last_used_at: f.nullable.time('Accurate to the minute'),
}) {}

export class CreatedTokenResponse extends f.model(StaffTokenResponse, {
  token: f.text('The token; not shown again', { example: 'plt_sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2sXo0Zb6dV1y' }),
}) {}

export class FactorSecretResponse extends f.model({
  secret: f.text('Base32, to type into the app; not shown again', {
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  }),
  uri: f.text('For a QR code', {
    example: 'otpauth://totp/Plinth:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Plinth',
  }),
}) {}

export class RecoveryCodesResponse extends f.model({
  recovery_codes: f.texts('Each can be used once in place of a code from the app; not shown again', {
    example: ['k7mp-2xqa-9fht-w3ce'],
  }),
}) {}
