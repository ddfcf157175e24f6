/** Sessions of staff. Each begins with a new token, by which it is found, and gets another token from time to time. */
import { Inject, Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import type { RequestOrigin } from '../../identity/request-origin';
import { Clock } from '../../common/time/clock';
import { SECRETS_CONFIG, SecretsConfig, STAFF_CONFIG, StaffConfig } from '../../config/app-config';
import { equalSecrets } from '../../infra/crypto/constant-time';
import { hashToken, newSecretToken } from '../../identity/secret-token';
import { SessionRecord, StaffSession, StaffSessionRepository } from './staff-session.repository';

/** Milliseconds after which a session gets another token. */
const ROTATE_AFTER_MS = 15 * 60_000;
/** Milliseconds for which requests in progress with the old token are accepted. */
const GRACE_MS = 60_000;
/** Milliseconds for which a session counts as confirmed after a proof of identity. */
const CONFIRMED_MS = 10 * 60_000;
/** Minimum milliseconds between two updates of the time of the last use. */
const TOUCH_AFTER_MS = 60_000;

/** A new token for the cookie. */
export interface CookieToken {
  readonly token: string;
  /** The end of the session. */
  readonly expiresAt: Date;
}

export interface BegunSession extends CookieToken {
  readonly id: string;
  readonly isConfirmed: true;
}

export interface FoundSession {
  readonly session: StaffSession;
  /** The token that replaces the client's token; null if the client keeps its token. */
  readonly renewed: CookieToken | null;
}

@Injectable()
export class StaffSessions {
  constructor(
    private readonly sessions: StaffSessionRepository,
    private readonly clock: Clock,
    @Inject(STAFF_CONFIG) private readonly config: StaffConfig,
    @Inject(SECRETS_CONFIG) private readonly secrets: SecretsConfig,
  ) {}

  /** Always creates a new session with a new token: a token that a client presents never becomes another staff member's. */
  async begin(memberId: string, origin: RequestOrigin): Promise<BegunSession> {
    const now = this.clock.now();
    await this.sessions.sweep(new Date(now), new Date(now - this.config.sessionIdleMs));
    const { token, hash } = newSecretToken();
    const expiresAt = new Date(now + this.config.sessionLifetimeMs);
    const id = await this.sessions.insert({ memberId, hash, now: new Date(now), expiresAt, origin });
    return { id, token, isConfirmed: true, expiresAt };
  }

  /** The session of a token; null if it has ended. A token that was replaced a while ago ends the session: it was stolen. */
  async find(token: string): Promise<FoundSession | null> {
    const hash = hashToken(token);
    const session = await this.sessions.find(hash);
    if (!session) return null;
    if (this.isOver(session)) {
      await this.sessions.end(session.member.id, session.id);
      return null;
    }
    return { session, renewed: await this.advance(session, hash) };
  }

  /** Replaces the token of a session immediately, after a change of its rights. */
  async replaceToken(id: string, expiresAt: Date): Promise<CookieToken | null> {
    const { token, hash } = newSecretToken();
    const isReplaced = await this.sessions.replace(id, hash, this.clock.date());
    return isReplaced ? { token, expiresAt } : null;
  }

  /**
   * Notes that the staff member has proved their identity again, and gives the session another token. Requests with
   * the old token are accepted for a minute, but do not count as confirmed: it may have been stolen.
   */
  async confirm(id: string, expiresAt: Date): Promise<CookieToken | null> {
    const { token, hash } = newSecretToken();
    return (await this.sessions.confirm(id, hash, this.clock.date())) ? { token, expiresAt } : null;
  }

  isConfirmed({ presented, confirmedAt }: StaffSession): boolean {
    return presented !== 'previous' && confirmedAt.getTime() + CONFIRMED_MS > this.clock.now();
  }

  async list(memberId: string): Promise<SessionRecord[]> {
    return this.sessions.list(
      memberId,
      this.clock.date(),
      new Date(this.clock.now() - this.config.sessionIdleMs),
    );
  }

  /** @returns false if the staff member has no such session */
  async end(memberId: string, id: string): Promise<boolean> {
    return this.sessions.end(memberId, id);
  }

  /** Ends the session that a client presents when it signs in again. */
  async endByToken(token: string): Promise<void> {
    await this.sessions.endByToken(hashToken(token));
  }

  /** @param except a session that continues */
  async endAll(memberId: string, except: string | null = null): Promise<void> {
    await this.sessions.endAllOf(memberId, except);
  }

  /** The token that protects against forged requests. It belongs to the session, and does not change with the cookie. */
  csrfToken(sessionId: string): string {
    return csrfTokenUnder(this.secrets.masterKey, sessionId);
  }

  isCsrfToken(sessionId: string, token: string | undefined): boolean {
    const keys = [this.secrets.masterKey, this.secrets.otherMasterKey].filter((key) => key !== null);
    return token !== undefined && keys.some((key) => equalSecrets(token, csrfTokenUnder(key, sessionId)));
  }

  private isOver({ expiresAt, lastUsedAt, presented, rotatedAt }: StaffSession): boolean {
    const now = this.clock.now();
    if (expiresAt.getTime() <= now || lastUsedAt.getTime() + this.config.sessionIdleMs <= now) return true;
    return presented === 'previous' && rotatedAt.getTime() + GRACE_MS <= now;
  }

  private async advance(session: StaffSession, hash: Buffer): Promise<CookieToken | null> {
    const { id, presented, rotatedAt, nextAt, lastUsedAt, expiresAt } = session;
    const now = this.clock.now();
    if (presented === 'next') {
      await this.sessions.promote(id, hash, this.clock.date());
    } else if (
      presented === 'current' &&
      rotatedAt.getTime() + ROTATE_AFTER_MS <= now &&
      // Only one of several simultaneous requests gets the new token. If that response was lost, a later
      // request gets another token.
      (nextAt === null || nextAt.getTime() + GRACE_MS <= now)
    ) {
      const { token, hash: next } = newSecretToken();
      await this.sessions.offer(id, next, this.clock.date());
      return { token, expiresAt };
    } else if (lastUsedAt.getTime() + TOUCH_AFTER_MS <= now) {
      await this.sessions.touch(id, this.clock.date());
    }
    return null;
  }
}

function csrfTokenUnder(masterKey: string, sessionId: string): string {
  return createHmac('sha256', masterKey).update(`staff-csrf:${sessionId}`).digest('base64url');
}
