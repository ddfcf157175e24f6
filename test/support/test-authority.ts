/** A certificate authority for a test, and a certificate that it issued for this machine, as files that every user can read. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';

export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Key of the authority. */
  readonly caKey: string;
}

interface Validity {
  /** Days of the certificate. */
  readonly days?: number;
  readonly from?: Date;
  /** The authority of an earlier certificate. */
  readonly authority?: TlsFiles;
}

const DAY_MS = 86_400_000;

/** @param ips addresses of the server; the certificate contains no other names, so other names fail the check */
export async function issueCertificate(
  directory: string,
  name: string,
  ips: readonly string[],
  { days = 30, from = new Date(), authority }: Validity = {},
): Promise<TlsFiles> {
  const ca = authority
    ? { key: readFileSync(authority.caKey, 'utf8'), cert: readFileSync(authority.ca, 'utf8') }
    : await newAuthority(name);
  const issued = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca,
    notBeforeDate: from,
    notAfterDate: new Date(from.getTime() + days * DAY_MS),
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
    ca: write('ca.crt', ca.cert),
    cert: write('crt', issued.cert),
    key: write('key', issued.private),
    caKey: write('ca.key', ca.key),
  };
}

async function newAuthority(name: string): Promise<{ key: string; cert: string }> {
  const made = await generate([{ name: 'commonName', value: `Authority ${name}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + 3_650 * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { key: made.private, cert: made.cert };
}
