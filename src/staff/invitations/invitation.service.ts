/** Invitations: a mailed link with which a staff member creates an account. */
import { Inject, Injectable } from '@nestjs/common';
import { getEmailAddress } from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import type { RequestOrigin } from '../../identity/request-origin';
import { PlatformMails } from '../../infra/mail/platform-mail.service';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { MAIL_CONFIG, MailConfig, SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { refusingDuplicate } from '../../database/sql/sqlstate';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { projectNotFound } from '../../projects/projects.errors';
import {
  auditEntry,
  type InstallRole,
  STAFF_GUESSES,
  type StaffMemberRecord,
} from '../accounts/staff-member';
import { assertMayGrant } from '../accounts/staff-member.service';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { StaffPasswords } from '../accounts/staff-password.service';
import { actorAs, installRoleOf, isOperator, projectRoleOf, StaffCaller } from '../roles/staff';
import { hashToken, newSecretToken } from '../../identity/secret-token';
import { SignedInStaff, StaffSignIn } from '../sessions/staff-sign-in.service';
import {
  alreadyInvited,
  invitationInvalid,
  invitationNotFound,
  staffMemberExists,
  roleForbids,
} from '../staff.errors';
import { invitationMail } from './invitation-mail';
import {
  type Invitation,
  InvitationRepository,
  type InvitedProject,
  type OpenInvitation,
} from './invitation.repository';

const LIFETIME_MS = 7 * 24 * 60 * 60_000;

export interface InvitationRequest {
  readonly email: string;
  readonly role: InstallRole | null;
  readonly projects: readonly InvitedProject[];
}

export interface Acceptance {
  readonly token: string;
  readonly name: string;
  readonly password: string;
}

export interface MadeInvitation {
  readonly invitation: Invitation;
  /**
   * The link to pass on. Null if a mail server delivers it, and for administrators of projects: then only the
   * invited person gets it.
   */
  readonly link: string | null;
  /** False if the mail is only a file in the data directory. */
  readonly mailed: boolean;
}

@Injectable()
export class InvitationService {
  constructor(
    private readonly invitations: InvitationRepository,
    private readonly members: StaffMemberRepository,
    private readonly passwords: StaffPasswords,
    private readonly signIn: StaffSignIn,
    private readonly projects: ProjectRegistry,
    private readonly mails: PlatformMails,
    private readonly throttle: GuessThrottle,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
    @Inject(MAIL_CONFIG) private readonly mail: MailConfig,
  ) {}

  /** The invitations that the sender may see. */
  async list(staff: StaffCaller): Promise<Invitation[]> {
    const all = await this.invitations.list(this.clock.date());
    return all.filter((one) => sees(staff, one));
  }

  /**
   * @throws AppError 403 or 404 for rights that the sender may not grant, 409 for an address with an account,
   * 429 for too many invitations
   */
  async create(staff: StaffCaller, request: InvitationRequest, actor: Actor): Promise<MadeInvitation> {
    await this.assertMayInvite(staff, request);
    const { address: email, key: emailKey } = getEmailAddress(request.email);
    await this.throttle.assertMayInvite(STAFF_GUESSES, staff.member?.id ?? null, emailKey);
    if (await this.members.findByEmail(emailKey)) throw staffMemberExists();
    const { role } = request;
    // If a project has several roles, the last one counts.
    const projects = [...new Map(request.projects.map((one) => [one.id, one])).values()];
    const { token, hash } = newSecretToken();
    const [createdAt, expiresAt] = [this.clock.date(), new Date(this.clock.now() + LIFETIME_MS)];
    const inviter = staff.member;
    const mailed = this.mail.smtpUrl !== null;
    const shown = { email, role, projects, invitedBy: inviter?.email ?? null, createdAt, expiresAt };
    const made = { ...shown, hash, emailKey, mailed, inviterId: inviter?.id ?? null };
    const details = { email, role, projects: projects.map(({ id, role: of }) => ({ id, role: of })) };
    const id = await this.invitations.insert(made, auditEntry('invitation.create', actor, details));
    if (id === null) throw alreadyInvited();
    const link = `${this.server.publicUrl}/console/invitation#${token}`;
    const content = invitationMail({ inviter: inviter?.name ?? null, link, hours: LIFETIME_MS / 3_600_000 });
    await this.mails.send({ id, to: email, link, createdAt, expiresAt, ...content });
    const invitation = { id, ...shown };
    return { invitation, link: !mailed && isOperator(staff) ? link : null, mailed };
  }

  /** @throws AppError 404 for an invitation that does not exist or that the sender may not see */
  async remove(staff: StaffCaller, id: string, actor: Actor): Promise<void> {
    const invitation = UUID.test(id) ? await this.invitations.find(id) : null;
    if (!invitation || !manages(staff, invitation)) throw invitationNotFound();
    const entry = auditEntry('invitation.delete', actor, { email: invitation.email });
    await this.invitations.remove(id, entry);
  }

  /**
   * Creates the account and signs the staff member in.
   * @throws AppError 403 for a link that is not valid, 409 for an address with an account, 400 for an
   * unacceptable password, 429 for too many attempts
   */
  async accept({ token, name, password }: Acceptance, origin: RequestOrigin): Promise<SignedInStaff> {
    const from = { project: STAFF_GUESSES, origin };
    const find = (): Promise<OpenInvitation | null> =>
      this.invitations.findOpen(hashToken(token), this.clock.date());
    const invitation = await this.throttle.attemptFrom(from, find);
    if (!invitation) throw invitationInvalid();
    const passwordHash = await this.passwords.hashNew(password);
    const made = this.makeMember(invitation, { name, passwordHash }, origin);
    const member = await refusingDuplicate(made, staffMemberExists);
    return this.signIn.beginFor(member, 'person.sign_in', origin);
  }

  private async makeMember(
    { id, email, emailKey, role, projects, mailed }: OpenInvitation,
    { name, passwordHash }: { name: string; passwordHash: string },
    origin: RequestOrigin,
  ): Promise<StaffMemberRecord> {
    return this.members.whileOwnersStay(async (manager) => {
      if (!(await this.invitations.use(id, manager))) throw invitationInvalid();
      const emailVerifiedAt = mailed ? this.clock.date() : null;
      const account = { email, emailKey, name, role, passwordHash, emailVerifiedAt };
      const member = await this.members.insert(account, manager);
      for (const project of projects)
        await this.members.setProjectRole(project.id, member.id, project.role, manager);
      const details = { person_id: member.id, role };
      const entry = auditEntry('invitation.accept', actorAs(member, origin.ip), details);
      await this.audit.write(entry, manager);
      return member;
    });
  }

  private async assertMayInvite(staff: StaffCaller, { role, projects }: InvitationRequest): Promise<void> {
    assertMayGrant(staff, role);
    const isOfInstall = isOperator(staff);
    if (!isOfInstall && (role !== null || projects.length === 0)) throw roleForbids();
    for (const { id } of projects) {
      const own = projectRoleOf(staff, id);
      if (!isOfInstall && own === null) throw projectNotFound();
      if (!isOfInstall && own !== 'admin') throw roleForbids();
      await this.projects.get(id);
    }
  }
}

/** Staff of the installation see all invitations, administrators of projects only those that they manage. */
const sees = (staff: StaffCaller, invitation: Invitation): boolean =>
  installRoleOf(staff) !== null || manages(staff, invitation);

/** An auditor who administers a project is still not an operator. */
function manages(staff: StaffCaller, { role, projects }: Invitation): boolean {
  if (isOperator(staff)) return true;
  return role === null && projects.every(({ id }) => projectRoleOf(staff, id) === 'admin');
}
