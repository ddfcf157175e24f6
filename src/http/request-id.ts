/** Ids by which a request can be found in the logs of several services. Given only where requests are logged or traced. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { contextOf } from './request-context';

const REQUEST_ID = 'X-Request-Id';
/** The id that a proxy gave. Other text is not logged: it is the client's. */
const GIVEN = /^[\w.:-]{1,64}$/;
/** Keys and tokens must not get into the log by this way. */
const TOKEN = /eyJ[\w-]{10,}/;

/** Uses the proxy's id or a new id, and sends it to the client. */
export function nameRequest(request: IncomingMessage, response: ServerResponse): void {
  const given = request.headers['x-request-id'];
  const isUsable = typeof given === 'string' && GIVEN.test(given) && !TOKEN.test(given);
  const id = isUsable ? given : randomUUID();
  contextOf(request).id = id;
  response.setHeader(REQUEST_ID, id);
}
