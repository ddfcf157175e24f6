/** People, sessions, tokens and invitations in the terms of the admin API. */
import type { PersonRecord } from '../accounts/person';
import type { ProjectMember } from '../accounts/people.repository';
import type { Invitation } from '../invitations/invitation';
import { installRoleOf, personOf, Staff } from '../roles/staff';
import type { TokenRecord } from '../tokens/staff-token.repository';
import type {
  InvitationDto,
  PersonDto,
  ProjectPersonDto,
  StaffSessionDto,
  TokenRecordDto,
} from './dto/staff-records.dto';

/** @param csrfToken null without a cookie */
export function toSessionView(staff: Staff, csrfToken: string | null): StaffSessionDto {
  const person = personOf(staff);
  return {
    person: {
      id: person?.id ?? null,
      email: person?.email ?? null,
      name: person?.name ?? 'PLATFORM_ADMIN_KEY',
      role: installRoleOf(staff),
      has_factor: person?.hasFactor ?? false,
      has_app: person?.hasApp ?? false,
    },
    projects: staff.identity?.projects ?? [],
    csrf_token: csrfToken,
    expires_at: staff.session?.expiresAt ?? staff.token?.expiresAt ?? null,
  };
}

export function toPersonView(person: PersonRecord): PersonDto {
  return {
    id: person.id,
    email: person.email,
    name: person.name,
    role: person.role,
    has_factor: person.hasFactor,
    disabled_at: person.disabledAt,
    created_at: person.createdAt,
    last_sign_in_at: person.lastSignInAt,
  };
}

export function toMemberView(member: ProjectMember): ProjectPersonDto {
  return { ...toPersonView(member), project_role: member.projectRole };
}

/** What people who do not manage the project see of one another. */
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
