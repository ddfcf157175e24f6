/** Listens on HOST and PORT, and explains why that is not possible. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AppConfig } from '../config/app-config';
import { PortError } from '../http/port-error';

/** Listening on HOST and PORT failed. The message is for the administrator. */
class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Checks that all ports are available before anything is started. @throws ListenError, PortError */
export async function assertPortsFree({ server: { host, port, metrics, s3 } }: AppConfig): Promise<void> {
  const probe = createServer();
  const close = (): Promise<unknown> => new Promise((resolve) => probe.close(resolve));
  if (port !== 0) await listen(probe, host, port).then(close);
  for (const [setting, other] of Object.entries({ METRICS_PORT: metrics, S3_PORT: s3 })) {
    if (other === null) continue;
    probe.listen(other.port, other.host);
    await once(probe, 'listening').catch((error: Error) => {
      throw new PortError(setting, other.host, other.port, error);
    });
    await close();
  }
}

export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new ListenError(listenFault(host, port, error), { cause: error })),
    );
    server.listen(port, host, resolve);
  });
}

function listenFault(host: string, port: number, { code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken: stop what listens there, or set PORT to another one.`;
    case 'EACCES':
      return (
        `Port ${port} on ${host} is not allowed to this user: set PORT to 1024 or more, ` +
        'or start Plinth with the capability CAP_NET_BIND_SERVICE.'
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return (
        'HOST must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them; ' +
        `${host} is none (${code}).`
      );
    default:
      return `Plinth cannot listen on port ${port} of ${host}: ${message}`;
  }
}
