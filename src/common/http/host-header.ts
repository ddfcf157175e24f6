/** RFC 9112, 3.2: a request with more than one Host line is refused; Node's parser takes the first one. */
import type { IncomingMessage } from 'node:http';

const HOST = 'host';

/** Looks at names of its length alone, so that it costs a request nothing to speak of. */
export function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let lines = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n] as string;
    if (name.length === HOST.length && name.toLowerCase() === HOST) lines += 1;
  }
  return lines > 1;
}
