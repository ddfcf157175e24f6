/** Headers of the answers that begin or end a session. */
import { type DocumentedHeaders, TEXT } from '../../http/docs/documented-headers';

export const SESSION_HEADERS: DocumentedHeaders = {
  'Set-Cookie': {
    description: 'The session: HttpOnly, SameSite=Strict, and with https Secure and the prefix `__Host-`',
    schema: TEXT,
  },
  'Cache-Control': { description: '`no-store`', schema: TEXT },
};
