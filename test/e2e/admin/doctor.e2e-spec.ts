/** POST /doctor and `plinth doctor`: each check, in a healthy install and with a fault. */
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { MailServer } from '../../support/mail-server';
import { asSuperuser } from '../../support/owner-connection';
import { ADMIN_KEY, type StartOptions, TestPlinth } from '../../support/plinth';
import { freePort } from '../../support/plinth-process';
import { hasRedis, TestRedis } from '../../support/redis-server';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy: string | null;
}

async function examine(plinth: TestPlinth, body: object = {}): Promise<Finding[]> {
  const answer = await plinth.admin.post('/admin/v1/doctor', body);
  expect(answer.status).toBe(200);
  return answer.body.findings;
}

const of = (findings: readonly Finding[], check: string): Finding[] =>
  findings.filter((finding) => finding.check === check);

async function withPlinth(options: StartOptions, work: (plinth: TestPlinth) => Promise<void>): Promise<void> {
  const plinth = await TestPlinth.start(options);
  try {
    await work(plinth);
  } finally {
    await plinth.stop();
  }
}

async function run(bases: string[], ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => new AdminClient(bases, ADMIN_KEY),
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  return { code, out, err };
}

/** Starts a server that answers every request with this body, as another program at PUBLIC_URL would. */
async function listening(body: string): Promise<{ server: Server; url: string }> {
  const server = createServer((_request, response) => void response.end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

let plinth: TestPlinth;
let other: { server: Server; url: string };
beforeAll(async () => {
  other = await listening('{"status":"live"}');
  plinth = await TestPlinth.start({ env: { PUBLIC_URL: other.url } });
});
afterAll(async () => {
  await plinth.stop();
  await new Promise((resolve) => other.server.close(resolve));
});

describe('POST /doctor', () => {
  it('reports no failure in a healthy install, and lists its checks', async () => {
    const findings = await examine(plinth);
    expect(findings.filter(({ status }) => status === 'failed')).toEqual([]);
    const checks = new Set(findings.map(({ check }) => check));
    expect([...checks].sort()).toEqual(
      [
        'backups',
        'changes',
        'clock',
        'database',
        'database_access',
        'disk',
        'mail',
        'master_key',
        'pooler',
        'projects',
        'public_url',
        'redis',
        'replicas',
        'shared_roles',
        'storage',
        'version',
        'wal_archive',
        'webhooks',
      ].sort(),
    );
    for (const { status, remedy } of findings) {
      expect(remedy === null).toBe(['ok', 'skipped'].includes(status));
    }
    expect(of(findings, 'database')[0]?.message).toMatch(/^PostgreSQL \d+ at .+, as role /);
    expect(of(findings, 'version')[0]?.message).toContain(process.versions.node);
  });

  it('leaves no file in the storage, and names a fault of the provider', async () => {
    expect(of(await examine(plinth), 'storage')).toEqual([
      expect.objectContaining({ status: 'ok', message: 'the provider "disk" writes, reads and deletes' }),
    ]);
    await withPlinth({}, async (one) => {
      const files = join(one.dataDir, 'files');
      rmSync(files, { recursive: true, force: true });
      writeFileSync(files, 'no directory');
      const [fault] = of(await examine(one), 'storage');
      expect(fault).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('cannot be written'),
      });
    });
  });

  it('reports tables that are open to everybody', async () => {
    const project = await plinth.createProject();
    await project.sql(
      'create table open_to_all (id int); alter table open_to_all disable row level security',
    );
    const found = of(await examine(plinth), 'projects').filter(({ message }) =>
      message.includes(project.slug),
    );
    expect(found).toEqual([
      expect.objectContaining({
        status: 'warning',
        message: expect.stringContaining('"public.open_to_all"'),
      }),
    ]);
  });

  it('names projects with the schema of another version, and databases that no longer exist', async () => {
    const [older, lost] = [await plinth.createProject(), await plinth.createProject()];
    const [row] = await asSuperuser(plinth.platformDatabase, async (client) => {
      await client.query(`update projects set schema_version = 'older' where id = $1`, [older.id]);
      const { rows } = await client.query<{ name: string }>(
        'select database_name as name from projects where id = $1',
        [lost.id],
      );
      return rows;
    });
    await asSuperuser('postgres', (client) =>
      client.query(`alter database "${row?.name}" allow_connections false`),
    );
    const found = of(await examine(plinth), 'projects');
    for (const { slug } of [older, lost]) {
      expect(found).toContainEqual(
        expect.objectContaining({ status: 'failed', message: expect.stringContaining(slug) }),
      );
    }
    await asSuperuser('postgres', (client) =>
      client.query(`alter database "${row?.name}" allow_connections true`),
    );
    for (const { id } of [older, lost]) await plinth.admin.delete(`/admin/v1/projects/${id}`);
  });

  it('sends a mail, or only tests the login', async () => {
    const mails = await MailServer.start();
    try {
      const env = { SMTP_URL: `smtp://127.0.0.1:${mails.port}`, MAIL_FROM: 'Plinth <plinth@example.com>' };
      await withPlinth({ env }, async (one) => {
        expect(of(await examine(one), 'mail')).toMatchObject([{ status: 'ok' }]);
        expect(mails.mails).toHaveLength(0);
        expect(of(await examine(one, { mail_to: 'admin@example.com' }), 'mail')).toMatchObject([
          { status: 'ok' },
        ]);
        expect(mails.mails.map(({ recipients }) => recipients)).toEqual([['admin@example.com']]);
        mails.mood = 'refuse';
        const [fault] = of(await examine(one, { mail_to: 'admin@example.com' }), 'mail');
        expect(fault).toMatchObject({
          status: 'failed',
          message: expect.stringContaining('try again later'),
        });
        expect((await one.admin.post('/admin/v1/doctor', { mail_to: 'nobody' })).status).toBe(400);
      });
    } finally {
      await mails.stop();
    }
  });

  it('shows no credentials of the services that it examines', async () => {
    const env = { SMTP_URL: `smtp://user:canary-smtp@127.0.0.1:${await freePort()}` };
    await withPlinth({ env }, async (one) => {
      const text = JSON.stringify(await examine(one, { mail_to: 'admin@example.com' }));
      expect(text).toContain('does not accept mail');
      expect(text).not.toContain('canary');
      for (const secret of [ADMIN_KEY, 'test-master-key']) expect(text).not.toContain(secret);
    });
  });

  it('reports a PUBLIC_URL that does not answer, leads to another program, or has no TLS', async () => {
    const wrong = await listening('another application');
    await withPlinth({ env: { PUBLIC_URL: wrong.url } }, async (one) => {
      expect(of(await examine(one), 'public_url')).toMatchObject([{ status: 'failed' }]);
    });
    await new Promise((resolve) => wrong.server.close(resolve));
    await withPlinth({ env: { PUBLIC_URL: `http://plinth.invalid:${await freePort()}` } }, async (one) => {
      const findings = await examine(one);
      expect(of(findings, 'public_url')).toMatchObject([{ status: 'warning' }]);
      expect(of(findings, 'tls')).toMatchObject([{ status: 'warning' }]);
    });
    await withPlinth({ env: { PUBLIC_URL: `https://127.0.0.1:${await freePort()}` } }, async (one) => {
      expect(of(await examine(one), 'tls')).toMatchObject([{ status: 'failed' }]);
    });
  });

  (hasRedis ? it : it.skip)('writes to Redis, and warns about eviction', async () => {
    const redis = await TestRedis.start();
    try {
      await withPlinth({ env: { REDIS_URL: redis.url } }, async (one) => {
        expect(of(await examine(one), 'redis')).toMatchObject([{ status: 'ok' }]);
        await redis.set('maxmemory-policy', 'allkeys-lru');
        expect(of(await examine(one), 'redis')).toMatchObject([
          { status: 'ok' },
          {
            status: 'warning',
            message: expect.stringContaining('maxmemory-policy allkeys-lru'),
            remedy: 'Set maxmemory-policy noeviction.',
          },
        ]);
      });
    } finally {
      await redis.stop();
    }
  });
});

describe('plinth doctor', () => {
  it('prints a line for each finding, with the remedy, and exits with 0', async () => {
    const { code, out, err } = await run([plinth.baseUrl, other.url], 'doctor');
    expect([code, err, out]).toEqual([0, '', expect.not.stringContaining('FAILED')]);
    expect(out).toMatch(/^ok +database +PostgreSQL/m);
    expect(out).toMatch(/^WARNING +mail +SMTP_URL is not set.*\n +> Set SMTP_URL/m);
    expect(out).toContain('as seen from this machine');
  });

  it('exits with 1 if a check fails, and prints the findings as JSON', async () => {
    const bases = [plinth.baseUrl, `http://127.0.0.1:${await freePort()}`];
    const { code, out, err } = await run(bases, 'doctor');
    expect([code, err]).toEqual([1, '1 check failed\n']);
    expect(out).toMatch(/^FAILED +public_url +.*cannot be reached from this machine/m);
    const json = await run(bases, '--json', 'doctor');
    expect([json.code, json.err]).toEqual([1, '']);
    expect(of(JSON.parse(json.out).findings, 'storage')).toMatchObject([{ status: 'ok' }]);
  });

  it('exits with 4 when no server answers', async () => {
    expect((await run([`http://127.0.0.1:${await freePort()}`], 'doctor')).code).toBe(4);
  });
});
