/**
 * A connection to a directory that a tenant names: always encrypted, with a verified certificate, to an address that was checked,
 * and with limits of time and bytes.
 */
import { once } from 'node:events';
import { isIP } from 'node:net';
import { Duplex, Transform } from 'node:stream';
import type { Client } from 'ldapts' with { 'resolution-mode': 'import' };
import type { OutboundHttp } from '../../infra/outbound/outbound-http';
import type { LdapSetting } from '../../config/ldap-setting';

/** Milliseconds for a whole sign-in. */
const TIMEOUT_MS = 10_000;
/** Bytes from the server. */
const MAX_BYTES = 1024 * 1024;
/** Bytes of the answer to StartTLS. */
const MAX_ANSWER = 1_024;

/** The extended request StartTLS (RFC 4511, 4.14) with the message id 1. */
const START_TLS = Buffer.concat([
  Buffer.from([0x30, 0x1d, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16]),
  Buffer.from('1.3.6.1.4.1.1466.20037'),
]);

/** @param ca PEM of a private authority @throws Error if the server cannot be reached, or its certificate is not valid */
export async function withDirectory<T>(
  http: OutboundHttp,
  { url, ca }: Pick<LdapSetting, 'url' | 'ca'>,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === 'ldaps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = http.connect(host, Number(port) || (isSecure ? 636 : 389));
  const deadline = setTimeout(() => socket.destroy(new Error('the directory takes too long')), TIMEOUT_MS);
  socket.on('error', () => {});
  // Closing the stream without an error would not end the wait.
  const closed = new Promise<never>((_done, fail) => {
    socket.once('close', () => fail(new Error('the connection to the directory was closed')));
  });
  closed.catch(() => {});
  let client: Client | null = null;
  try {
    await Promise.race([closed, once(socket, 'connect')]);
    if (!isSecure) await Promise.race([closed, startTls(socket)]);
    const limited = new Transform({ transform: limit() });
    limited.on('error', (error) => socket.destroy(error));
    socket.on('close', () => limited.destroy());
    const stream = Duplex.from({ readable: socket.pipe(limited), writable: socket });
    stream.on('error', () => socket.destroy());
    const { Client: LdapClient } = await import('ldapts');
    client = new LdapClient({
      url: `ldaps://${isIP(host) === 6 ? `[${host}]` : host}`,
      timeout: TIMEOUT_MS,
      connectTimeout: TIMEOUT_MS,
      tlsOptions: {
        socket: stream,
        minVersion: 'TLSv1.2',
        ...(ca === undefined ? {} : { ca }),
        ...(isIP(host) === 0 ? { servername: host } : {}),
      },
    });
    return await Promise.race([closed, work(client)]);
  } finally {
    clearTimeout(deadline);
    await client?.unbind().catch(() => {});
    socket.destroy();
  }
}

function limit(): ConstructorParameters<typeof Transform>[0] extends infer Options
  ? NonNullable<Options extends { transform?: infer Work } ? Work : never>
  : never {
  let size = 0;
  return (chunk: Buffer, _encoding, done) => {
    size += chunk.length;
    if (size > MAX_BYTES) done(new Error('the directory sends too much'));
    else done(null, chunk);
  };
}

/** Refuses bytes after the answer, because they were not encrypted. */
async function startTls(socket: Duplex): Promise<void> {
  socket.write(START_TLS);
  let answer = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    answer = Buffer.concat([answer, chunk]);
    if (answer.length > MAX_ANSWER) throw new Error('the answer to StartTLS is too long');
    const end = endOf(answer, 0);
    if (end === null || answer.length < end.end) continue;
    socket.pause();
    const isAccepted = answer.length === end.end && resultOf(answer, end.start) === 0;
    if (!isAccepted) throw new Error('the directory does not accept StartTLS');
    return;
  }
}

/** Start and end of the content of an element of BER; null if it is cut off. */
function endOf(bytes: Buffer, offset: number): { start: number; end: number } | null {
  const length = bytes[offset + 1];
  if (length === undefined) return null;
  if (length < 0x80) return { start: offset + 2, end: offset + 2 + length };
  const size = length & 0x7f;
  if (size === 0 || size > 4) throw new Error('the answer to StartTLS is not valid');
  if (bytes.length < offset + 2 + size) return null;
  const start = offset + 2 + size;
  return { start, end: start + bytes.readUIntBE(offset + 2, size) };
}

/** The result code of an extended response. @param offset the offset of the message id */
function resultOf(bytes: Buffer, offset: number): number | null {
  const id = endOf(bytes, offset);
  if (!id || bytes[offset] !== 0x02 || bytes[id.end] !== 0x78) return null;
  const response = endOf(bytes, id.end);
  if (!response || bytes[response.start] !== 0x0a) return null;
  const code = endOf(bytes, response.start);
  return code && code.end - code.start === 1 ? (bytes[code.start] ?? null) : null;
}
