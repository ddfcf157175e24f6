/** What users and administrators see of a session. */
import type { SessionInfo } from '../sessions/session';
import type { SessionFactsDto } from './dto/auth-answers.dto';

export function toSessionFacts(session: SessionInfo): SessionFactsDto {
  return {
    id: session.id,
    created_at: session.createdAt.toISOString(),
    last_seen_at: session.refreshedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    ip: session.ip,
    user_agent: session.userAgent,
  };
}
