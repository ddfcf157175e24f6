/** Refreshes, lists and ends sessions. */
import { Injectable } from '@nestjs/common';
import { invalidCredentials } from '../../access/access.errors';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { AuditEntry, AuditRepository } from '../audit/audit.repository';
import { invalidRefreshToken, sessionNotFound } from '../auth.errors';
import { HousekeepingService } from './housekeeping.service';
import { RefreshTokenService } from './refresh-token.service';
import { RequestOrigin } from '../audit/request-origin';
import { SessionIssuer, SignedIn } from './session-issuer.service';
import { LogoutScope, SessionOwner, SessionRepository, SessionRow } from './session.repository';
import { UUID } from '../../common/text/uuid';

@Injectable()
export class SessionService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly refreshTokens: RefreshTokenService,
    private readonly issuer: SessionIssuer,
    private readonly audit: AuditRepository,
    private readonly housekeeping: HousekeepingService,
    private readonly clock: Clock,
  ) {}

  /**
   * Spends a refresh token for its successor. A token that was spent more than a moment ago has two owners, one of
   * whom stole it: the session ends for both (RFC 9700, 4.14.2).
   * @throws AppError 401
   */
  async refresh(project: Project, refreshToken: string, origin: RequestOrigin): Promise<SignedIn> {
    const content = this.refreshTokens.open(project.id, refreshToken);
    if (!content) throw invalidRefreshToken();
    const rotated = await this.sessions.rotate(project, content, {
      now: this.now(),
      expiresAt: this.issuer.sessionEnd(project),
      origin,
    });
    if (!rotated) throw invalidRefreshToken();
    if (rotated.revoked) {
      const { id } = rotated.account;
      const details = { session_id: rotated.sessionId };
      await this.audit.write(project, { ...this.entry('refresh_token_reused', origin, id), details });
      throw invalidRefreshToken();
    }
    this.housekeeping.visit(project);
    return this.issuer.issue(project, rotated);
  }

  /** @throws AppError 401 when the session is over already */
  async signOut(
    project: Project,
    owner: SessionOwner,
    scope: LogoutScope,
    origin: RequestOrigin,
  ): Promise<void> {
    const entry = { ...this.entry('sign_out', origin, owner.userId), details: { scope } };
    if (!(await this.sessions.end(project, owner, scope, this.now(), entry))) throw invalidCredentials();
  }

  /** Live sessions of the user, the newest first. @throws AppError 401 when the user's own session is over */
  async list(project: Project, owner: SessionOwner): Promise<SessionRow[]> {
    const sessions = await this.sessions.list(project, owner, this.now());
    if (!sessions) throw invalidCredentials();
    return sessions;
  }

  /** @throws AppError 401 when the user's own session is over, 404 when there is no such session of the user's */
  async revoke(project: Project, owner: SessionOwner, id: string, origin: RequestOrigin): Promise<void> {
    const target = UUID.test(id) ? id : null;
    const details = { session_id: target };
    const entry = { ...this.entry('session_revoked', origin, owner.userId), details };
    const ended = await this.sessions.endOne(project, owner, target, this.now(), entry);
    if (ended === null) throw invalidCredentials();
    if (!ended) throw sessionNotFound();
  }

  private entry(action: AuditEntry['action'], origin: RequestOrigin, userId: string): AuditEntry {
    return { action, now: this.now(), origin, actorRole: 'authenticated', actorId: userId, userId };
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}
