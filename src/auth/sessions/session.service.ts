/** Refreshes, lists and ends sessions. */
import { Injectable } from '@nestjs/common';
import { invalidCredentials } from '../../access/access.errors';
import { JsonObject } from '../../common/text/json';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { SessionOwner } from '../accounts/account-statements';
import { AuditContext, byUser } from '../audit/audit-entry';
import { AuditRepository } from '../audit/audit.repository';
import { RequestOrigin, Sender } from '../../identity/request-origin';
import { invalidRefreshToken } from '../auth.errors';
import { sessionNotFound } from '../../identity/identity.errors';
import { HousekeepingService } from './housekeeping.service';
import { RefreshTokenService } from './refresh-token.service';
import { LogoutScope, RotatedSession, SessionInfo } from './session';
import { SessionIssuer, SignedIn } from './session-issuer.service';
import { SessionTokensRepository } from './session-tokens.repository';
import { SessionRepository } from './session.repository';

@Injectable()
export class SessionService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly sessionTokens: SessionTokensRepository,
    private readonly refreshTokens: RefreshTokenService,
    private readonly issuer: SessionIssuer,
    private readonly audit: AuditRepository,
    private readonly housekeeping: HousekeepingService,
    private readonly clock: Clock,
  ) {}

  /**
   * Spends a refresh token for its successor. If a token is used again after the grace period, two clients have it, and one of
   * them may have stolen it: the session ends for both (RFC 9700, 4.14.2).
   * @param clientId the application that sent the token; null for the user's own client
   * @throws AppError 401
   */
  async refresh(
    { project, origin }: Sender,
    refreshToken: string,
    clientId: string | null = null,
  ): Promise<SignedIn> {
    const content = this.refreshTokens.open(project, refreshToken);
    if (!content) throw invalidRefreshToken();
    const now = this.clock.date();
    const expiresAt = this.issuer.sessionEnd(project);
    const rotated = await this.sessionTokens.rotate(project, content, { now, expiresAt, origin, clientId });
    if (!rotated) throw invalidRefreshToken();
    if (rotated.revoked) return this.refuseReuse({ project, origin }, rotated);
    this.housekeeping.visit(project);
    return this.issuer.issue(project, rotated);
  }

  /** @throws AppError 401 if the session is over already */
  async signOut({ project, origin }: Sender, owner: SessionOwner, scope: LogoutScope): Promise<void> {
    const entry = byUser('sign_out', owner.userId, this.context(origin, { scope }));
    if (!(await this.sessions.end(project, owner, scope, entry))) throw invalidCredentials();
  }

  /** The live sessions of the user, the newest first. @throws AppError 401 if the current session is over */
  async list(project: Project, owner: SessionOwner): Promise<SessionInfo[]> {
    const sessions = await this.sessions.list(project, owner, this.clock.date());
    if (!sessions) throw invalidCredentials();
    return sessions;
  }

  /** For administrators: see SessionRepository. */
  async listOf(project: Project, userId: string): Promise<SessionInfo[]> {
    return UUID.test(userId) ? this.sessions.listOf(project, userId, this.clock.date()) : [];
  }

  /** @throws AppError 401 if the current session is over, 404 if the user has no such session */
  async revoke({ project, origin }: Sender, owner: SessionOwner, id: string): Promise<void> {
    const target = UUID.test(id) ? id : null;
    const entry = byUser('session_revoked', owner.userId, this.context(origin, { session_id: target }));
    const ended = await this.sessions.endOne(project, owner, target, entry);
    if (ended === null) throw invalidCredentials();
    if (!ended) throw sessionNotFound();
  }

  private async refuseReuse(
    { project, origin }: Sender,
    { account, sessionId }: RotatedSession,
  ): Promise<never> {
    const context = this.context(origin, { session_id: sessionId });
    await this.audit.write(project, byUser('refresh_token_reused', account.id, context));
    throw invalidRefreshToken();
  }

  private context(origin: RequestOrigin, details: JsonObject): AuditContext {
    return { now: this.clock.date(), origin, details };
  }
}
