/** Signs staff in with email, password and, if they have one, their second factor; and changes their password. */
import { Injectable } from '@nestjs/common';
import type { RequestOrigin } from '../../identity/request-origin';
import { invalidParameters } from '../../common/errors/app-error';
import type { JsonObject } from '../../common/text/json';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import { auditEntry, type StaffMember } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { StaffPasswords } from '../accounts/staff-password.service';
import { StaffFactors } from '../factors/staff-factor.service';
import { actorAs, StaffCaller } from '../roles/staff';
import { factorRequired, stepUpRequired } from '../staff.errors';
import { passkeyFailed, sessionNotFound, wrongCredentials } from '../../identity/identity.errors';
import { StaffTokens } from '../tokens/staff-token.service';
import { Passkeys } from '../passkeys/passkey.service';
import type { Browser, StaffBrowser } from './browser';
import { SessionCookies } from './session-cookies.service';
import type { SessionRecord } from './staff-session.repository';
import { BegunSession, StaffSessions } from './staff-session.service';

export interface FactorProof {
  /** Code of the second factor, or a recovery code. */
  readonly code?: string | null | undefined;
  /** The answer of a passkey, in place of a code. */
  readonly passkey?: JsonObject | undefined;
}

export interface SignIn extends FactorProof {
  readonly email: string;
  readonly password: string;
}

/** A proof of identity: exactly one of the members is set. */
export interface Confirmation extends FactorProof {
  readonly password?: string | null | undefined;
}

export interface SignedInStaff extends StaffCaller {
  readonly session: BegunSession;
}

@Injectable()
export class StaffSignIn {
  constructor(
    private readonly passwords: StaffPasswords,
    private readonly members: StaffMemberRepository,
    private readonly factors: StaffFactors,
    private readonly sessions: StaffSessions,
    private readonly passkeys: Passkeys,
    private readonly cookies: SessionCookies,
    private readonly tokens: StaffTokens,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * The client's former session ends.
   * @throws AppError 401 for wrong credentials or a missing code, 429 for too many attempts
   */
  async signIn(input: SignIn, browser: Browser): Promise<SignedInStaff> {
    const member = await this.passwords.check(input.email, input.password, browser.origin);
    // A passkey is used up only after the password was right.
    if (member.hasFactor) await this.assertFactor(member, input, browser);
    return this.enter(member, browser);
  }

  /** @throws AppError 401 `factor_required` without a proof, 401 for a wrong proof, 429 for too many attempts */
  async assertFactor(member: StaffMember, { code, passkey }: FactorProof, browser: Browser): Promise<void> {
    if (passkey) {
      const holder = await this.passkeys.memberWith(passkey, false, browser);
      if (holder.id !== member.id) throw passkeyFailed();
      return;
    }
    if (!code) throw factorRequired();
    await this.factors.assertCode(member, code, browser.origin);
  }

  /** Begins a session in place of the one that the browser has, and gives it the cookie. @param details for the audit log */
  async enter(
    member: StaffMember,
    { request, response, origin }: Browser,
    details: JsonObject = {},
  ): Promise<SignedInStaff> {
    const presented = this.cookies.read(request);
    if (presented !== null) await this.sessions.endByToken(presented);
    const staff = await this.beginFor(member, 'person.sign_in', origin, details);
    this.cookies.write(response, staff.session);
    return staff;
  }

  /** Begins a session for a staff member who has just proved their identity. @param action for the audit log, like `details` */
  async beginFor(
    member: StaffMember,
    action: string,
    origin: RequestOrigin,
    details: JsonObject = {},
  ): Promise<SignedInStaff> {
    const session = await this.sessions.begin(member.id, origin);
    await this.members.noteSignIn(member.id, this.clock.date());
    await this.audit.write(auditEntry(action, actorAs(member, origin.ip), details));
    return { member, projects: await this.members.projectsOf(member.id), session, token: null };
  }

  async signOut({ member, session, origin, response }: StaffBrowser): Promise<void> {
    await this.sessions.end(member.id, session.id);
    await this.audit.write(auditEntry('person.sign_out', actorAs(member, origin.ip)));
    this.cookies.clear(response);
  }

  async listSessions(member: StaffMember): Promise<SessionRecord[]> {
    return this.sessions.list(member.id);
  }

  /** @throws AppError 404 if the staff member has no such session */
  async endSession({ member, origin }: StaffBrowser, id: string): Promise<void> {
    if (!UUID.test(id) || !(await this.sessions.end(member.id, id))) throw sessionNotFound();
    const actor = actorAs(member, origin.ip);
    await this.audit.write(auditEntry('person.session_end', actor, { session_id: id }));
  }

  /**
   * Confirms the session for ten minutes, and gives it another token.
   * @throws AppError 401 for a wrong password, code or passkey and for an ended session, 400 unless exactly
   * one of them is given, 429 for too many attempts
   */
  async confirm(browser: StaffBrowser, { password, code, passkey }: Confirmation): Promise<void> {
    const { member, session, origin } = browser;
    if ([password, code, passkey].filter(Boolean).length !== 1)
      throw invalidParameters('one of password, code and passkey is needed');
    if (password) await this.passwords.check(member.email, password, origin);
    else await this.assertFactor(member, { code, passkey }, browser);
    const renewed = await this.sessions.confirm(session.id, session.expiresAt);
    if (!renewed) throw wrongCredentials();
    await this.audit.write(auditEntry('person.session_confirm', actorAs(member, origin.ip)));
    this.cookies.write(browser.response, renewed);
  }

  /**
   * Call it before a change that could lock the staff member out, which a stolen session alone must not make.
   * @param password null: the session must be confirmed, and the staff member must have no password
   * @throws AppError 401 for a wrong password, 403 for a session that is not confirmed, 400 for a text that
   * cannot be a password, 429 for too many attempts
   */
  async assertStillThere(
    { member, session: { isConfirmed }, origin }: StaffBrowser,
    password: string | null,
  ): Promise<void> {
    if (password !== null) {
      await this.passwords.check(member.email, password, origin);
      return;
    }
    const hasPassword = (await this.members.findPasswordHash(member.id)) !== null;
    if (hasPassword) throw wrongCredentials();
    if (!isConfirmed) throw stepUpRequired();
  }

  /**
   * Ends all other sessions of the staff member and, if requested, their tokens, and gives this session
   * another token.
   * @throws AppError 401 for a wrong current password or an ended session, 400 for an unacceptable new
   * password, 429 for too many attempts
   */
  async changePassword(
    { member, session, origin, response }: StaffBrowser,
    { current, next, endTokens }: { current: string; next: string; endTokens: boolean },
  ): Promise<void> {
    const { passwordHash } = await this.passwords.check(member.email, current, origin);
    const hash = await this.passwords.hashNew(next);
    // The check may have replaced the hash by one of a higher cost.
    const before = (await this.members.findPasswordHash(member.id)) ?? passwordHash ?? '';
    const entry = auditEntry('person.password', actorAs(member, origin.ip), { tokens_ended: endTokens });
    await this.members.setPassword(member.id, before, hash, entry);
    await this.sessions.endAll(member.id, session.id);
    if (endTokens) await this.tokens.endAll(member);
    const renewed = await this.sessions.replaceToken(session.id, session.expiresAt);
    if (!renewed) throw wrongCredentials();
    this.cookies.write(response, renewed);
  }
}
