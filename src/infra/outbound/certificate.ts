/** The certificate that a server presents to this process. */
import { isIP } from 'node:net';
import { connect, type PeerCertificate } from 'node:tls';

const TIMEOUT_MS = 10_000;

/**
 * @param isVerified true: rejects when the certificate is not valid for the host @throws Error when the server does not answer
 * with TLS
 */
export function certificateOf({ hostname, port }: URL, isVerified: boolean): Promise<PeerCertificate> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const address = { host, port: Number(port || 443), servername: isIP(host) ? '' : host };
  return new Promise((resolve, reject) => {
    // Nothing is sent on a connection that is not verified.
    const socket = connect({ ...address, rejectUnauthorized: isVerified }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
    socket.on('error', reject);
  });
}

/** Seconds since 1970 at which a certificate ends. */
export const endOf = ({ valid_to: end }: PeerCertificate): number => Date.parse(end) / 1_000;
