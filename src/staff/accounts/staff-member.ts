/** Staff who administer the installation, and their roles. */

/** Roles of the installation. */
export const INSTALL_ROLES = ['owner', 'operator', 'auditor'] as const;
export type InstallRole = (typeof INSTALL_ROLES)[number];

/** Roles of a project. */
export const PROJECT_ROLES = ['admin', 'developer', 'viewer'] as const;
export type ProjectRole = (typeof PROJECT_ROLES)[number];

/** The account of a person. */
export interface StaffMember {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** Null: roles of projects only. */
  readonly role: InstallRole | null;
  /** True once an authenticator app was confirmed. */
  readonly hasApp: boolean;
  /** True with an authenticator app or a passkey. */
  readonly hasFactor: boolean;
}

/** The role of a staff member in a project. */
export interface Membership {
  /** The project's id. */
  readonly id: string;
  readonly slug: string;
  readonly role: ProjectRole;
}

/** A staff member with everything that the list of staff shows. */
export interface StaffMemberRecord extends StaffMember {
  readonly disabledAt: Date | null;
  /** Since when the address is proved, by a mail's link or an issuer; null: not proved. */
  readonly emailVerifiedAt: Date | null;
  readonly createdAt: Date;
  readonly lastSignInAt: Date | null;
}

/** A staff member and the projects that they have a role in. */
export interface Identity {
  readonly member: StaffMember;
  readonly projects: readonly Membership[];
}
