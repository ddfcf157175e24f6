/** Headers of the answers that begin or end a session. */
import { type DocumentedHeaders, NOT_STORED, TEXT } from '../../http/docs/documented-headers';

export const SESSION_HEADERS: DocumentedHeaders = {
  'Set-Cookie': {
    description: 'The session: HttpOnly, SameSite=Strict, and with https Secure and the prefix `__Host-`',
    schema: TEXT,
  },
  ...NOT_STORED,
};
