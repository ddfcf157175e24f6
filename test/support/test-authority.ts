/** A certificate authority of a test, and a certificate of it for this machine, as files that every user can read. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';

export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** @param ips of the server; the certificate has no other names, so that a check of another one fails */
export async function issueCertificate(directory: string, name: string, ips: string[]): Promise<TlsFiles> {
  const authority = await generate([{ name: 'commonName', value: `Authority ${name}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const issued = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: ips.map((ip) => ({ type: 7, ip })) },
    ],
  });
  const write = (kind: string, text: string): string => {
    const file = join(directory, `${name}.${kind}`);
    writeFileSync(file, text);
    chmodSync(file, 0o644);
    return file;
  };
  return {
    ca: write('ca.crt', authority.cert),
    cert: write('crt', issued.cert),
    key: write('key', issued.private),
  };
}
