/** The certificate of PostgreSQL expires while Plinth runs: 503, one line in the log and a finding of the doctor, until it is renewed. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectFired, hasPromtool } from '../support/alert-rules';
import { eventually } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { SystemPostgres } from '../support/system-postgres';
import { issueCertificate, type TlsFiles } from '../support/test-authority';

const DAY_MS = 86_400_000;

let directory: string;
let postgres: SystemPostgres;
let plinth: PlinthProcess;
let good: TlsFiles;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-certificate-'));
  good = await issueCertificate(directory, 'good', ['127.0.0.1']);
  postgres = await SystemPostgres.start('embedded', { settings: ['wal_level=logical'], tls: good });
  const url = new URL(postgres.url);
  url.pathname = '/plinth';
  const env = { DATABASE_URL: url.href, MASTER_KEY: 'expired-master-key-0123456789-0123456789' };
  plinth = await PlinthProcess.start({ dataDir: directory, env });
}, 120_000);
afterAll(async () => {
  await plinth?.end('SIGTERM');
  await postgres?.stop();
  rmSync(directory, { recursive: true, force: true });
});

it('reports when the certificate expires', async () => {
  const { text } = await plinth.admin.get('/metrics');
  const [, end] = /^plinth_certificate_end_time_seconds\{of="platform"\} (\S+)$/m.exec(text) ?? [];
  const { validTo } = new X509Certificate(readFileSync(good.cert));
  expect(Number(end) * 1_000).toBe(Date.parse(validTo));
});

(hasPromtool ? it : it.skip)('PlinthCertificateEnds: a certificate ends in a few days', async () => {
  // The time of promtool begins at 0.
  const scrape = async (): Promise<string> =>
    (await plinth.admin.get('/metrics')).text.replace(
      /^(plinth_certificate_end_time_seconds\S+) (\S+)$/gm,
      (_line, name: string, end: string) => `${name} ${Number(end) - Date.now() / 1_000}`,
    );
  const before = await scrape();
  await postgres.renewAndEndSessions(
    await issueCertificate(directory, 'short', ['127.0.0.1'], { days: 5, authority: good }),
  );
  await expectFired(before, 'PlinthCertificateEnds', scrape);
});

it.each([
  [
    'expired',
    'certificate has expired',
    () => {
      const from = new Date(Date.now() - 2 * DAY_MS);
      return issueCertificate(directory, 'expired', ['127.0.0.1'], { days: 1, from, authority: good });
    },
  ],
  [
    'of an untrusted authority',
    'unable to verify the first certificate',
    () => issueCertificate(directory, 'foreign', ['127.0.0.1']),
  ],
  [
    'of another host',
    "Hostname/IP does not match certificate's altnames",
    () => issueCertificate(directory, 'elsewhere', ['192.0.2.1'], { authority: good }),
  ],
])('a certificate %s', async (_kind, reason, issue) => {
  const { body: project } = await plinth.admin.post('/admin/v1/projects', { name: 'P', slug: null });
  const rest = new HttpClient(`${plinth.baseUrl}/p/${project.slug}`, {
    apikey: project.anon_key,
    authorization: `Bearer ${project.anon_key}`,
  });
  const bad = await issue();
  await postgres.renewAndEndSessions(bad);
  const answers = [
    () => rest.get('/rest/v1/t'),
    () => rest.post('/auth/v1/signup', { email: 'a@example.com', password: 'correct horse' }),
    () => rest.get('/storage/v1/bucket'),
    () => plinth.admin.get('/admin/v1/projects'),
    () => new HttpClient(plinth.baseUrl).get('/health/ready'),
  ];
  for (const request of answers) {
    const { status, headers, text } = await request();
    expect([status, text, headers.get('retry-after')]).toEqual([
      503,
      expect.not.stringContaining(reason),
      expect.any(String),
    ]);
  }
  expect(plinth.printed).toContain(reason);
  const { body } = await plinth.admin.post('/admin/v1/doctor', {});
  expect(body.findings).toContainEqual({
    check: 'database',
    status: 'failed',
    message: expect.stringContaining(`cannot be used: its certificate is refused: ${reason}`),
    remedy: expect.stringContaining('Renew the certificate'),
  });
  await postgres.renewAndEndSessions(good);
  await eventually(async () => expect((await rest.get('/rest/v1/t')).status).toBe(404));
  await eventually(async () => expect((await plinth.admin.get('/admin/v1/projects')).status).toBe(200));
});
