/** Starts OpenLDAP's slapd for a test. Its tests are skipped if it is not installed (CI installs it). */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './plinth-process';

const SLAPD = '/usr/sbin/slapd';
const WAIT_TIMEOUT_MS = 10_000;

export const hasSlapd = existsSync(SLAPD);
if (!hasSlapd)
  process.stderr.write('slapd is not installed: the tests of LDAP are skipped (apt-get install slapd)\n');

export const BASE_DN = 'dc=example,dc=com';
export const BIND_DN = `cn=plinth,${BASE_DN}`;
export const BIND_PASSWORD = 'secret of plinth';

export interface SlapdPerson {
  readonly uid: string;
  readonly mail: string;
  /** Absent if the entry has no password. */
  readonly password?: string;
}

export class SlapdServer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly ldapPort: number,
    readonly ldapsPort: number,
    /** PEM of its certificate. */
    readonly ca: string,
  ) {}

  /** @param groups the members of each group, by the group's name */
  static async start(
    people: readonly SlapdPerson[],
    groups: Readonly<Record<string, readonly string[]>>,
  ): Promise<SlapdServer> {
    const folder = mkdtempSync(join(tmpdir(), 'slapd-'));
    const path = (name: string): string => join(folder, name);
    mkdirSync(path('db'));
    const request = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '30',
      '-subj',
      '/CN=localhost',
    ];
    const names = ['-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync('openssl', [...request, ...names, '-keyout', path('key.pem'), '-out', path('cert.pem')], {
      stdio: 'ignore',
    });
    writeFileSync(path('slapd.conf'), configuration(folder));
    writeFileSync(path('people.ldif'), entries(people, groups));
    execFileSync('/usr/sbin/slapadd', ['-f', path('slapd.conf'), '-l', path('people.ldif')], {
      stdio: 'pipe',
    });
    const [ldap, ldaps] = [await freePort(), await freePort()];
    const urls = `ldap://127.0.0.1:${ldap} ldaps://127.0.0.1:${ldaps}`;
    const child = spawn(SLAPD, ['-f', path('slapd.conf'), '-h', urls, '-d', '0'], { stdio: 'ignore' });
    const end = Date.now() + WAIT_TIMEOUT_MS;
    while (!(await answers(ldaps))) {
      if (child.exitCode !== null || Date.now() > end) throw new Error('slapd did not start');
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return new SlapdServer(child, folder, ldap, ldaps, readFileSync(path('cert.pem'), 'utf8'));
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true });
  }
}

const configuration = (folder: string): string =>
  [
    ...['core', 'cosine', 'inetorgperson'].map((name) => `include /etc/ldap/schema/${name}.schema`),
    'modulepath /usr/lib/ldap',
    'moduleload back_mdb',
    `pidfile ${folder}/pid`,
    `TLSCertificateFile ${folder}/cert.pem`,
    `TLSCertificateKeyFile ${folder}/key.pem`,
    // A bind without a password succeeds, as it does on many servers.
    'allow bind_anon_dn bind_anon_cred',
    'database mdb',
    `suffix "${BASE_DN}"`,
    `directory ${folder}/db`,
    `rootdn "cn=root,${BASE_DN}"`,
    'access to attrs=userPassword by anonymous auth by * none',
    `access to * by dn.exact="${BIND_DN}" read by * none`,
    '',
  ].join('\n');

function entries(
  people: readonly SlapdPerson[],
  groups: Readonly<Record<string, readonly string[]>>,
): string {
  const dnOf = (uid: string): string => `uid=${uid},ou=people,${BASE_DN}`;
  return [
    `dn: ${BASE_DN}\nobjectClass: domain\ndc: example`,
    `dn: ${BIND_DN}\nobjectClass: person\ncn: plinth\nsn: plinth\nuserPassword: ${BIND_PASSWORD}`,
    `dn: ou=people,${BASE_DN}\nobjectClass: organizationalUnit\nou: people`,
    `dn: ou=groups,${BASE_DN}\nobjectClass: organizationalUnit\nou: groups`,
    ...people.map(
      ({ uid, mail, password }) =>
        `dn: ${dnOf(uid)}\nobjectClass: inetOrgPerson\nuid: ${uid}\ncn: ${uid}\nsn: ${uid}\nmail: ${mail}\ndisplayName: Name of ${uid}\ntitle: Engineer${password === undefined ? '' : `\nuserPassword: ${password}`}`,
    ),
    ...Object.entries(groups).map(
      ([name, members]) =>
        `dn: cn=${name},ou=groups,${BASE_DN}\nobjectClass: groupOfNames\ncn: ${name}\n${members.map((uid) => `member: ${dnOf(uid)}`).join('\n')}`,
    ),
    '',
  ].join('\n\n');
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
