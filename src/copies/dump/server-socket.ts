/** A raw connection to a PostgreSQL server, encrypted where its configuration says so, for a client that has no sockets. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ClientConfig } from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;
/** SSLRequest (PostgreSQL manual, 54.7): its length and its code. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const ACCEPTED = 'S'.charCodeAt(0);

/** @throws Error when the server cannot be reached, or refuses TLS */
export async function openServerSocket({
  host,
  port,
  ssl,
}: ClientConfig & { readonly host: string; readonly port: number }): Promise<Duplex> {
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
  const secure = connectTls({ socket, servername: host, ...(ssl === true ? {} : ssl) });
  await once(secure, 'secureConnect');
  return secure;
}
