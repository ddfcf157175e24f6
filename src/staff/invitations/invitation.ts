/** An invitation to an account. */
import type { InstallRole, ProjectRole } from '../accounts/staff-member';

export interface InvitedProject {
  /** The project's id. */
  readonly id: string;
  readonly role: ProjectRole;
}

export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: InstallRole | null;
  readonly projects: readonly InvitedProject[];
  /** Address of the staff member who invited; null: PLATFORM_ADMIN_KEY did. */
  readonly invitedBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface NewInvitation {
  readonly hash: Buffer;
  readonly email: string;
  readonly emailKey: string;
  readonly role: InstallRole | null;
  readonly projects: readonly InvitedProject[];
  /** False: the link is shown, so it does not prove the address. */
  readonly mailed: boolean;
  /** Id of the staff member who invites. */
  readonly invitedBy: string | null;
  readonly now: Date;
  readonly expiresAt: Date;
}
