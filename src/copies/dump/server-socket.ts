/** A raw connection to a PostgreSQL server, encrypted where its configuration says so, for a client that has no sockets. */
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ClientConfig } from 'pg';
import { HostListClient, type HostListConfig } from '../../pg-pipeline';

const CONNECT_TIMEOUT_MS = 10_000;
/** SSLRequest (PostgreSQL manual, 54.7): its length and its code. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const ACCEPTED = 'S'.charCodeAt(0);
/**
 * Servers offer it over TLS only, and libpq refuses the offer on a connection that it does not encrypt itself. libpq ignores
 * names that it does not know.
 */
const [CHANNEL_BINDING, UNKNOWN] = ['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256-NONE'];

/** @throws Error when the server (the primary, if there are several hosts) cannot be reached, or refuses TLS */
export async function openServerSocket(
  config: HostListConfig & { readonly host: string; readonly port: number },
): Promise<Duplex> {
  const { ssl } = config;
  const isList = (config.hosts?.length ?? 0) > 1;
  const { host, port } = isList ? await new HostListClient(config).findPrimary() : config;
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error(`${host}:${port} does not answer`)));
  try {
    await once(socket, 'connect');
    const connection = ssl ? await encrypt(socket, host, ssl) : socket;
    socket.setTimeout(0);
    return connection;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function encrypt(socket: Socket, host: string, ssl: NonNullable<ClientConfig['ssl']>): Promise<Duplex> {
  socket.write(SSL_REQUEST);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (answer[0] !== ACCEPTED || answer.length > 1) throw new Error(`${host} refuses encrypted connections`);
  // An IP address is not a server name (RFC 6066, 3).
  const name = isIP(host) ? {} : { servername: host };
  const secure = connectTls({ socket, host, ...name, ...(ssl === true ? {} : ssl) });
  await once(secure, 'secureConnect');
  secure.once('data', (bytes: Buffer) => {
    const at = bytes.indexOf(CHANNEL_BINDING);
    if (at !== -1) bytes.write(UNKNOWN, at);
  });
  return secure;
}
