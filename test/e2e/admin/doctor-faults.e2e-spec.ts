/**
 * Faults that `plinth doctor` finds, each with a suggested fix. The tests break one install in several ways, one after
 * another.
 */
import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { canMount, SmallDisk } from '../../process/support/small-disk';
import { cliEnvironment } from '../../support/cli-environment';
import { asSuperuser, letIn } from '../../support/owner-connection';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { hasRedis, TestRedis } from '../../support/redis-server';

const MIB = 1024 * 1024;
/** For 127.0.0.1 and localhost, valid in January 2020. */
const EXPIRED = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBVzCB/qADAgECAgEBMAoGCCqGSM49BAMCMBYxFDASBgNVBAMMC3BsaW50aC50
ZXN0MB4XDTIwMDEwMTAwMDAwMFoXDTIwMDIwMTAwMDAwMFowFjEUMBIGA1UEAwwL
cGxpbnRoLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQJY1WPrKbJnYrs
QumnMi5b9LReH8/w5yuwPZuh0pBWZZvCdnSg3aLV6FtC0cxbhggmxQurk+pdyDpn
jLYFwzJHoz0wOzAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwHQYDVR0OBBYE
FFmOKd61txZyazssVaUhWoF3MkrCMAoGCCqGSM49BAMCA0gAMEUCIH+teLI0/ZJw
1M23Ef0uSq6QYMf+Qb2anwPlBjduwbyGAiEA4uzBnP5wR+aUqP4FpL3PxDAEl5/s
Q3SORiQpeR/iaEQ=
-----END CERTIFICATE-----`,
  key: `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIHREwdu0JBItFo7LGg+6xPiW83mDTnC57fG2CfYE+fJxoAoGCCqGSM49
AwEHoUQDQgAECWNVj6ymyZ2K7ELppzIuW/S0Xh/P8OcrsD2bodKQVmWbwnZ0oN2i
1ehbQtHMW4YIJsULq5PqXcg6Z4y2BcMyRw==
-----END EC PRIVATE KEY-----`,
};

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy: string | null;
}

const role = `doctor_${randomBytes(4).toString('hex')}`;
const expired = createServer(EXPIRED, (_request, response) => void response.end());
let disk: SmallDisk | null = null;
let redis: TestRedis | null = null;
let plinth: TestPlinth;

const portOf = (server: Server | typeof expired): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  await asSuperuser('postgres', async (client) => {
    await client.query(
      `create role ${role} login superuser password 'doctor'; grant connect on database postgres to ${role}`,
    );
    await letIn(client, role);
  });
  const databaseUrl = new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
  Object.assign(databaseUrl, { username: role, password: 'doctor' });
  await new Promise<void>((resolve) => expired.listen(0, '127.0.0.1', resolve));
  disk = canMount ? SmallDisk.mount('size=128m') : null;
  redis = hasRedis ? await TestRedis.start() : null;
  plinth = await TestPlinth.start({
    databaseUrl: databaseUrl.href,
    env: {
      PUBLIC_URL: `https://localhost:${portOf(expired)}`,
      ...(disk ? { BACKUP_URL: `file://${disk.directory}` } : {}),
      ...(redis ? { REDIS_URL: redis.url } : {}),
    },
  });
}, 60_000);
afterAll(async () => {
  await plinth?.stop();
  await redis?.stop().catch(() => undefined);
  disk?.unmount();
  await new Promise((resolve) => expired.close(resolve));
  await asSuperuser('postgres', (client) =>
    client.query(`reassign owned by ${role} to current_user; alter role ${role} nosuperuser nologin`),
  );
});

async function find(check: string): Promise<Finding[]> {
  const { status, body } = await plinth.admin.post('/admin/v1/doctor', {});
  expect(status).toBe(200);
  return (body.findings as Finding[]).filter((finding) => finding.check === check);
}

it('a clock that is wrong', async () => {
  expect(await find('clock')).toMatchObject([{ status: 'ok' }]);
  plinth.clock.move(90);
  const found = await find('clock');
  plinth.clock.move(-90);
  expect(found).toEqual([
    {
      check: 'clock',
      status: 'failed',
      message: expect.stringMatching(
        /^the clocks of this machine and of PostgreSQL at .* differ by [89]\d s$/,
      ),
      remedy: expect.stringContaining('timedatectl set-ntp true'),
    },
  ]);
});

it('a certificate that has expired', async () => {
  expect(await find('tls')).toEqual([
    {
      check: 'tls',
      status: 'failed',
      message: expect.stringMatching(
        /^the certificate of localhost:\d+ ended \d{4,} days ago \(Feb +1 .*2020 GMT\)$/,
      ),
      remedy: 'Renew it, and check the automatic renewal.',
    },
  ]);
});

it('privileges that the database role has lost', async () => {
  const alter = (rights: string): Promise<unknown> =>
    asSuperuser('postgres', (client) => client.query(`alter role ${role} ${rights}`));
  await alter('nosuperuser createdb nocreaterole');
  const found = await find('database');
  await alter('superuser');
  expect(found).toContainEqual({
    check: 'database',
    status: 'failed',
    message: expect.stringMatching(`the role ${role} lacks CREATEROLE: alter role "?${role}"? createrole$`),
    remedy: 'Run the statement above as a superuser.',
  });
  expect(await find('database')).toMatchObject([{ status: 'ok' }]);
});

(canMount ? it : it.skip)('a disk that is full or nearly full (needs the right to mount)', async () => {
  const statusOf = async (): Promise<unknown> =>
    (await find('disk')).find(({ message }) => message.includes('BACKUP_URL'));
  expect(await statusOf()).toMatchObject({ status: 'ok' });
  disk?.fillTo(8 * MIB);
  expect(await statusOf()).toEqual({
    check: 'disk',
    status: 'failed',
    message: expect.stringMatching(/^only 8 MiB are free in BACKUP_URL/),
    remedy: expect.stringContaining('enlarge the disk'),
  });
  disk?.makeRoom();
});

(hasRedis ? it : it.skip)('a Redis that cannot be reached (needs Redis)', async () => {
  expect(await find('redis')).toMatchObject([{ status: 'ok' }]);
  await redis?.stop();
  redis = null;
  expect(await find('redis')).toEqual([
    {
      check: 'redis',
      status: 'failed',
      message: expect.stringMatching(/^Redis cannot be used: /),
      remedy: expect.stringContaining('REDIS_URL'),
    },
  ]);
});

it('a command line with another version and another clock', async () => {
  const server = createHttpServer((_request, response) => {
    const report = { version: '0.0.1', now: new Date(Date.now() - 3_600_000).toISOString(), findings: [] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(report));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let out = '';
  const connect = (): AdminClient => new AdminClient([`http://127.0.0.1:${portOf(server)}`], ADMIN_KEY);
  await runCli(['doctor'], cliEnvironment({ connect, out: (text) => void (out += text) }));
  await new Promise((resolve) => server.close(resolve));
  expect(out).toMatch(
    /^WARNING +version +the command line is Plinth .*, and the server is 0\.0\.1\n +> Restart/m,
  );
  expect(out).toMatch(/^WARNING +clock +.* differ by 36\d\d s\n +> Synchronise both with NTP/m);
});
