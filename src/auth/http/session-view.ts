/** What users and administrators see of a session. */
import type { SessionFactsDto } from './dto/auth-answers.dto';

interface ListedSession {
  readonly id: string;
  readonly createdAt: Date;
  readonly refreshedAt: Date;
  readonly expiresAt: Date;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export function toSessionFacts(session: ListedSession): SessionFactsDto {
  return {
    id: session.id,
    created_at: session.createdAt.toISOString(),
    last_seen_at: session.refreshedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    ip: session.ip,
    user_agent: session.userAgent,
  };
}
