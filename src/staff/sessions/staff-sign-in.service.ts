/** Signs people in with email, password and, if they have one, their second factor; and changes their password. */
import { Injectable } from '@nestjs/common';
import type { RequestOrigin } from '../../identity/request-origin';
import type { JsonObject } from '../../common/text/json';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { Identity, Person } from '../accounts/person';
import { PeopleRepository } from '../accounts/people.repository';
import { StaffPasswords } from '../accounts/staff-password.service';
import { StaffFactors } from '../factors/staff-factor.service';
import { actorAs, SessionOfRequest } from '../roles/staff';
import { factorRequired, passkeyFailed, sessionNotFound, signInAgain, wrongSignIn } from '../staff.errors';
import type { SessionRecord } from './staff-session.repository';
import { BegunSession, CookieToken, StaffSessions } from './staff-session.service';

/** Milliseconds: a session this young stands for a password where the person has none. */
const RECENT_MS = 10 * 60_000;

export interface SignIn {
  readonly email: string;
  readonly password: string;
  /** Of the second factor, or a recovery code. */
  readonly code?: string;
  /** The person whose passkey the client has sent in place of a code. Called after the password was verified. */
  readonly passkey?: () => Promise<Person>;
}

export interface SignedInPerson {
  readonly identity: Identity;
  readonly session: BegunSession;
}

@Injectable()
export class StaffSignIn {
  constructor(
    private readonly passwords: StaffPasswords,
    private readonly people: PeopleRepository,
    private readonly factors: StaffFactors,
    private readonly sessions: StaffSessions,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param presented the token of the client's former session, which ends
   * @throws AppError 401 for wrong credentials or a missing code, 429
   */
  async signIn(input: SignIn, presented: string | null, origin: RequestOrigin): Promise<SignedInPerson> {
    const person = await this.passwords.check(input.email, input.password, origin);
    if (person.hasFactor) {
      await this.assertFactor(person, input, origin);
    }
    if (presented !== null) await this.sessions.endByToken(presented);
    return this.beginFor(person, 'person.sign_in', origin);
  }

  private async assertFactor(
    person: Person,
    { code, passkey }: SignIn,
    origin: RequestOrigin,
  ): Promise<void> {
    if (passkey) {
      if ((await passkey()).id !== person.id) throw passkeyFailed();
      return;
    }
    if (code === undefined) throw factorRequired();
    await this.factors.assertCode(person, code, origin);
  }

  /** Begins a session for a person who has just proved to be that person. @param action for the audit log, as `details` */
  async beginFor(
    person: Person,
    action: string,
    origin: RequestOrigin,
    details: JsonObject = {},
  ): Promise<SignedInPerson> {
    const session = await this.sessions.begin(person.id, origin);
    await this.people.noteSignIn(person.id, new Date(this.clock.now()));
    await this.audit.write({ actor: actorAs(person, origin.ip), action, projectId: null, details });
    return { identity: { person, projects: await this.people.projectsOf(person.id) }, session };
  }

  async signOut(person: Person, sessionId: string, origin: RequestOrigin): Promise<void> {
    await this.sessions.end(sessionId);
    await this.audit.write({ actor: actorAs(person, origin.ip), action: 'person.sign_out', projectId: null });
  }

  async listSessions(person: Person): Promise<SessionRecord[]> {
    return this.sessions.list(person.id);
  }

  /** @throws AppError 404 */
  async endSession(person: Person, id: string, origin: RequestOrigin): Promise<void> {
    if (!UUID.test(id) || !(await this.sessions.endOf(person.id, id))) throw sessionNotFound();
    const entry = { actor: actorAs(person, origin.ip), action: 'person.session_end', projectId: null };
    await this.audit.write({ ...entry, details: { session_id: id } });
  }

  /**
   * Before a change that could lock the person out: a stolen session alone must not make it.
   * @param password null: the session must have begun just now, and the person must have no password
   * @throws AppError 401 for a wrong password, 403 if the person must sign in again, 400, 429
   */
  async assertStillThere(
    person: Person,
    { createdAt }: SessionOfRequest,
    password: string | null,
    origin: RequestOrigin,
  ): Promise<void> {
    if (password !== null) {
      await this.passwords.check(person.email, password, origin);
      return;
    }
    const hasPassword = (await this.people.findPasswordHash(person.id)) !== null;
    if (hasPassword) throw wrongSignIn();
    if (createdAt.getTime() + RECENT_MS <= this.clock.now()) throw signInAgain();
  }

  /**
   * Ends all other sessions of the person, and gives this one another token.
   * @throws AppError 401 for a wrong current password or an ended session, 400 for an unacceptable new one, 429
   */
  async changePassword(
    person: Person,
    session: SessionOfRequest,
    { current, next }: { current: string; next: string },
    origin: RequestOrigin,
  ): Promise<CookieToken> {
    const { passwordHash } = await this.passwords.check(person.email, current, origin);
    const hash = await this.passwords.hashNew(next);
    // The check may have stored a hash of a higher cost.
    const before = (await this.people.findPasswordHash(person.id)) ?? passwordHash ?? '';
    const entry = { actor: actorAs(person, origin.ip), action: 'person.password', projectId: null };
    await this.people.setPassword(person.id, before, hash, entry);
    await this.sessions.endOthers(person.id, session.id);
    const renewed = await this.sessions.replaceToken(session.id, session.expiresAt);
    if (!renewed) throw wrongSignIn();
    return renewed;
  }
}
