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
import { actorAs, SessionOfRequest, StaffCaller } from '../roles/staff';
import { factorRequired, stepUpRequired } from '../staff.errors';
import { passkeyFailed, sessionNotFound, wrongCredentials } from '../../identity/identity.errors';
import { StaffTokens } from '../tokens/staff-token.service';
import type { SessionRecord } from './staff-session.repository';
import { BegunSession, CookieToken, StaffSessions } from './staff-session.service';

export interface SignIn {
  readonly email: string;
  readonly password: string;
  /** Code of the second factor, or a recovery code. */
  readonly code?: string | undefined;
  /** The staff member whose passkey the client has sent in place of a code. Called after the password was verified. */
  readonly passkey?: (() => Promise<StaffMember>) | undefined;
}

/** A proof of identity: exactly one of the members is set. */
export interface Confirmation extends Pick<SignIn, 'code' | 'passkey'> {
  readonly password?: string;
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
    private readonly tokens: StaffTokens,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param presented the token of the client's former session, which ends
   * @throws AppError 401 for wrong credentials or a missing code, 429 for too many attempts
   */
  async signIn(input: SignIn, presented: string | null, origin: RequestOrigin): Promise<SignedInStaff> {
    const member = await this.passwords.check(input.email, input.password, origin);
    if (member.hasFactor) {
      await this.assertFactor(member, input, origin);
    }
    if (presented !== null) await this.sessions.endByToken(presented);
    return this.beginFor(member, 'person.sign_in', origin);
  }

  /** @throws AppError 401 `factor_required` without a proof, 401 for a wrong proof, 429 for too many attempts */
  async assertFactor(
    member: StaffMember,
    { code, passkey }: Pick<SignIn, 'code' | 'passkey'>,
    origin: RequestOrigin,
  ): Promise<void> {
    if (passkey) {
      if ((await passkey()).id !== member.id) throw passkeyFailed();
      return;
    }
    if (code === undefined) throw factorRequired();
    await this.factors.assertCode(member, code, origin);
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

  async signOut(member: StaffMember, sessionId: string, origin: RequestOrigin): Promise<void> {
    await this.sessions.end(member.id, sessionId);
    await this.audit.write(auditEntry('person.sign_out', actorAs(member, origin.ip)));
  }

  async listSessions(member: StaffMember): Promise<SessionRecord[]> {
    return this.sessions.list(member.id);
  }

  /** @throws AppError 404 if the staff member has no such session */
  async endSession(member: StaffMember, id: string, origin: RequestOrigin): Promise<void> {
    if (!UUID.test(id) || !(await this.sessions.end(member.id, id))) throw sessionNotFound();
    const actor = actorAs(member, origin.ip);
    await this.audit.write(auditEntry('person.session_end', actor, { session_id: id }));
  }

  /**
   * Confirms the session for ten minutes, and gives it another token.
   * @throws AppError 401 for a wrong password, code or passkey and for an ended session, 400 unless exactly
   * one of them is given, 429 for too many attempts
   */
  async confirm(
    member: StaffMember,
    session: SessionOfRequest,
    { password, code, passkey }: Confirmation,
    origin: RequestOrigin,
  ): Promise<CookieToken> {
    if ([password, code, passkey].filter((proof) => proof !== undefined).length !== 1)
      throw invalidParameters('one of password, code and passkey is needed');
    if (password !== undefined) await this.passwords.check(member.email, password, origin);
    else await this.assertFactor(member, { code, passkey }, origin);
    const renewed = await this.sessions.confirm(session.id, session.expiresAt);
    if (!renewed) throw wrongCredentials();
    await this.audit.write(auditEntry('person.session_confirm', actorAs(member, origin.ip)));
    return renewed;
  }

  /**
   * Call it before a change that could lock the staff member out, which a stolen session alone must not make.
   * @param password null: the session must be confirmed, and the staff member must have no password
   * @throws AppError 401 for a wrong password, 403 for a session that is not confirmed, 400 for a text that
   * cannot be a password, 429 for too many attempts
   */
  async assertStillThere(
    member: StaffMember,
    { isConfirmed }: SessionOfRequest,
    password: string | null,
    origin: RequestOrigin,
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
    member: StaffMember,
    session: SessionOfRequest,
    { current, next, endTokens }: { current: string; next: string; endTokens: boolean },
    origin: RequestOrigin,
  ): Promise<CookieToken> {
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
    return renewed;
  }
}
