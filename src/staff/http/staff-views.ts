/** Staff, tokens and invitations in the terms of the admin API. */
import type { StaffMemberRecord } from '../accounts/staff-member';
import type { ProjectMember } from '../accounts/staff-member.repository';
import type { Invitation } from '../invitations/invitation.repository';
import type { TokenRecord } from '../tokens/staff-token.repository';
import type {
  InvitationResponse,
  StaffMemberResponse,
  ProjectMemberResponse,
  StaffTokenResponse,
} from './dto/staff-responses';

export function toStaffMemberResponse(member: StaffMemberRecord): StaffMemberResponse {
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

export function toMemberView(member: ProjectMember): ProjectMemberResponse {
  return { ...toStaffMemberResponse(member), project_role: member.projectRole };
}

/** The data that staff of a project may see about one another if they do not manage it. */
export const toColleagueView = (member: ProjectMemberResponse): ProjectMemberResponse => ({
  ...member,
  role: null,
  has_factor: null,
  last_sign_in_at: null,
});

export function toTokenView(token: TokenRecord): StaffTokenResponse {
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

export function toInvitationView(invitation: Invitation): InvitationResponse {
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
