/** Staff, sessions, tokens and invitations in the terms of the admin API. */
import type { StaffMemberRecord } from '../accounts/staff-member';
import type { ProjectMember } from '../accounts/staff-member.repository';
import type { Invitation } from '../invitations/invitation';
import { installRoleOf, memberOf, StaffCaller } from '../roles/staff';
import type { TokenRecord } from '../tokens/staff-token.repository';
import type {
  InvitationDto,
  PersonDto,
  ProjectPersonDto,
  StaffSessionDto,
  TokenRecordDto,
} from './dto/staff-records.dto';

/** @param csrfToken null without a cookie */
export function toSessionView(staff: StaffCaller, csrfToken: string | null): StaffSessionDto {
  const member = memberOf(staff);
  return {
    person: {
      id: member?.id ?? null,
      email: member?.email ?? null,
      name: member?.name ?? 'PLATFORM_ADMIN_KEY',
      role: installRoleOf(staff),
      has_factor: member?.hasFactor ?? false,
      has_app: member?.hasApp ?? false,
    },
    projects: staff.identity?.projects ?? [],
    csrf_token: csrfToken,
    expires_at: staff.session?.expiresAt ?? staff.token?.expiresAt ?? null,
  };
}

export function toStaffMemberResponse(member: StaffMemberRecord): PersonDto {
  return {
    id: member.id,
    email: member.email,
    name: member.name,
    role: member.role,
    has_factor: member.hasFactor,
    disabled_at: member.disabledAt,
    created_at: member.createdAt,
    last_sign_in_at: member.lastSignInAt,
  };
}

export function toMemberView(member: ProjectMember): ProjectPersonDto {
  return { ...toStaffMemberResponse(member), project_role: member.projectRole };
}

/** What staff who do not manage the project see of one another. */
export const toColleagueView = (member: ProjectPersonDto): ProjectPersonDto => ({
  ...member,
  role: null,
  has_factor: null,
  last_sign_in_at: null,
});

export function toTokenView(token: TokenRecord): TokenRecordDto {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    project_id: token.projectId,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
  };
}

export function toInvitationView(invitation: Invitation): InvitationDto {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    projects: invitation.projects,
    invited_by: invitation.invitedBy,
    created_at: invitation.createdAt,
    expires_at: invitation.expiresAt,
  };
}
