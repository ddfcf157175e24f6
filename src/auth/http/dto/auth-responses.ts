/** Answers of the endpoints for users, for the OpenAPI document. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { DocumentedHeaders } from '../../../http/docs/documented-headers';
import { Example } from '../../../http/docs/example.decorator';
import { FREE_OBJECT, UNIX_SECONDS, UUID_EXAMPLE } from '../../../http/docs/documented-types';
import type { SessionInfo } from '../../sessions/session';
import { Answer } from '../../../http/docs/operation.decorators';

const USER = { id: UUID_EXAMPLE, email: 'ada@example.com', name: 'Ada', data: { theme: 'dark' } };
const SESSION = {
  access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwYjZmIn0.c2lnbmF0dXJl',
  expires_at: 1767225600,
  refresh_token: 'q3fD0n7oRzG2c8bXy1Jk5w.1.Zm9vYmFy',
};

class UserResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'email' }) email!: string;
  @ApiProperty() name!: string;
  @ApiPropertyOptional({
    ...FREE_OBJECT,
    description: 'Application-defined JSON about the user; absent if empty',
  })
  data?: object;
}

class SessionResponse {
  @ApiProperty({ description: 'JWT; sent as `Authorization: Bearer ...`' }) access_token!: string;
  @ApiProperty({ ...UNIX_SECONDS, description: 'When the access token expires, in Unix seconds' })
  expires_at!: number;
  @ApiProperty({ description: 'Opaque; valid for one POST /refresh' }) refresh_token!: string;
}

@Example({ user: USER, session: SESSION })
export class SignedInResponse {
  @ApiProperty({ type: UserResponse }) user!: UserResponse;
  @ApiProperty({ type: SessionResponse }) session!: SessionResponse;
}

@Example({ user: USER, session: SESSION })
export class SignedUpResponse {
  @ApiProperty({ type: UserResponse }) user!: UserResponse;
  @ApiProperty({
    type: SessionResponse,
    nullable: true,
    description: 'Null if the project requires a verified address',
  })
  session!: SessionResponse | null;
}

@Example({ user: USER })
export class UserEnvelopeResponse {
  @ApiProperty({ type: UserResponse }) user!: UserResponse;
}

export class MessageResponse {
  @ApiProperty({ description: 'Human-readable message' }) message!: string;
}

/** A successful answer with a message. @param message the text of the answer, or the texts by their conditions */
export function MessageAnswer(
  message: string | Readonly<Record<string, string>>,
  description: string,
  headers?: DocumentedHeaders,
): MethodDecorator {
  if (typeof message === 'string')
    return Answer(200, description, MessageResponse, headers, { example: { message } });
  const examples = Object.entries(message).map(([name, text]): [string, object] => [
    name,
    { summary: text, value: { message: text } },
  ]);
  return Answer(200, description, MessageResponse, headers, { examples: Object.fromEntries(examples) });
}

export class SessionMetadataResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time', description: 'When it was last refreshed' }) last_seen_at!: string;
  @ApiProperty({ format: 'date-time' }) expires_at!: string;
  @ApiProperty({ type: String, nullable: true }) ip!: string | null;
  @ApiProperty({ type: String, nullable: true }) user_agent!: string | null;
}

class SessionInfoResponse extends SessionMetadataResponse {
  @ApiProperty({ description: 'True for the session of this request' }) current!: boolean;
}

@Example({
  sessions: [
    {
      id: UUID_EXAMPLE,
      created_at: '2026-01-01T08:00:00.000Z',
      last_seen_at: '2026-01-02T08:00:00.000Z',
      expires_at: '2026-02-01T08:00:00.000Z',
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0',
      current: true,
    },
  ],
})
export class SessionsResponse {
  @ApiProperty({ type: [SessionInfoResponse] }) sessions!: SessionInfoResponse[];
}

export function toSessionFacts(session: SessionInfo): SessionMetadataResponse {
  return {
    id: session.id,
    created_at: session.createdAt.toISOString(),
    last_seen_at: session.refreshedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    ip: session.ip,
    user_agent: session.userAgent,
  };
}
