/** Checks of a request's head that Node's parser leaves out, and its target. Proxies may read such a head differently. */
import type { IncomingMessage } from 'node:http';
import { AppError, httpError } from '../common/errors/app-error';

/** By default some versions of Node drop the lines after the 2,000th: a proxy would see a header that Plinth does not. */
const MAX_HEADER_LINES = 1_000;

const HOST = 'host';

const chunkedInHttp10 = (): AppError =>
  new AppError(400, 'invalid_parameters', 'HTTP/1.0 has no Transfer-Encoding', {
    database: { sqlstate: 'PL400' },
    headers: { Connection: 'close' },
  });

const codingNotImplemented = (): AppError =>
  new AppError(501, 'not_implemented', 'The only Transfer-Encoding that is supported is chunked', {
    database: { sqlstate: 'PL501' },
    headers: { Connection: 'close' },
  });

export const tooManyHeaders = (): AppError =>
  httpError(431, `The request has ${MAX_HEADER_LINES} header lines or more`);

/** The error of an ambiguous head, or null. */
export function headFault(request: IncomingMessage): AppError | null {
  if (request.rawHeaders.length >= 2 * MAX_HEADER_LINES) return tooManyHeaders();
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined) {
    // RFC 9112, 6.1: the end of such a body, and so the next request, is ambiguous.
    if (request.httpVersionMinor === 0) return chunkedInHttp10();
    // Node takes `gzip, chunked` as chunks, and leaves the gzip in the body.
    if (coding.toLowerCase() !== 'chunked') return codingNotImplemented();
  }
  return nameFault(request);
}

/** Compares lengths first: this runs for every request. */
function nameFault({ rawHeaders }: IncomingMessage): AppError | null {
  let hosts = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n] ?? '';
    // RFC 9112, 5.1. Node.js 20.19 takes `apikey : x` as a header of another name.
    if (name.includes(' ')) return httpError(400, 'The name of a header contains a blank');
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1;
  }
  // RFC 9112, 3.2
  return hosts > 1 ? httpError(400, 'The request has more than one Host header') : null;
}

/**
 * `http://host/path?query` to `/path?query` (RFC 9112, 3.2.2): proxies send it, and a server must accept it. Routers, metrics
 * and error bodies know paths only.
 */
export function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  const [scheme] = /^https?:\/\/[^/?#]*/i.exec(target) ?? [];
  if (scheme === undefined) return target;
  const rest = target.slice(scheme.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
