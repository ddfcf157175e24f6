/** Answers of the endpoints for users, for the OpenAPI document. */
import type { DocumentedHeaders } from '../../../http/docs/documented-headers';
import { UNIX_SECONDS } from '../../../http/docs/documented-types';
import type { SessionInfo } from '../../sessions/session';
import { Answer } from '../../../http/docs/operation.decorators';
import * as f from '../../../http/model/fields';

const JWT = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwYjZmIn0.c2lnbmF0dXJl';

class UserResponse extends f.model({
  id: f.uuid(),
  email: f.text({ format: 'email', example: 'ada@example.com' }),
  name: f.text({ example: 'Ada' }),
  data: f.optional.json('Application-defined JSON about the user; absent if empty'),
}) {}

class SessionResponse extends f.model({
  access_token: f.text('JWT; sent as `Authorization: Bearer ...`', { example: JWT }),
  expires_at: f.whole('When the access token expires, in Unix seconds', { ...UNIX_SECONDS }),
  refresh_token: f.text('Opaque; valid for one POST /refresh', {
    example: 'q3fD0n7oRzG2c8bXy1Jk5w.1.Zm9vYmFy',
  }),
}) {}

export class SignedInResponse extends f.model({
  user: f.object(UserResponse),
  session: f.object(SessionResponse),
}) {}

export class SignedUpResponse extends f.model({
  user: f.object(UserResponse),
  session: f.nullable.object(SessionResponse, 'Null if the project requires a verified address'),
}) {}

export class UserEnvelopeResponse extends f.model({
  user: f.object(UserResponse),
}) {}

export class MessageResponse extends f.model({
  message: f.text('Human-readable message'),
}) {}

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

export class SessionMetadataResponse extends f.model({
  id: f.uuid(),
  created_at: f.timeText(),
  last_seen_at: f.timeText('When it was last refreshed'),
  expires_at: f.timeText(),
  ip: f.nullable.text(),
  user_agent: f.nullable.text(),
}) {}

class SessionInfoResponse extends f.model(SessionMetadataResponse, {
  current: f.flag('True for the session of this request'),
}) {}

export class SessionsResponse extends f.model({
  sessions: f.list(SessionInfoResponse),
}) {}

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
