// Limits on the resources of one project's sessions, on a separate embedded PostgreSQL.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import type { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { eventually } from '../support/eventually';
import type { HttpAnswer } from '../support/http-client';
import { accessOf, asOwner, DatabaseAccess, sqlstateOf } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';
import { startPostgres } from './support/first-start';

/** The smallest possible values, so that the limits are reached soon. */
const SMALL = {
  max_notify_queue_pages: '64',
  temp_file_limit: '8MB',
  autovacuum_freeze_max_age: '100000',
};
/** With few WAL senders, few clients use up all processes before the first of them are dropped. */
const SETTINGS = { max_wal_senders: '2', ...SMALL };
const NOT_ADMITTED = '28000';

let directory: string;
let dataDir: string;
let postgres: EmbeddedPostgres;
let plinth: TestPlinth;
let neighbour: TestProject;
let hostile: TestProject;
let access: DatabaseAccess;
const sessions: Client[] = [];

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'plinth-limits-'));
  dataDir = path.join(directory, 'data');
  postgres = await startPostgres({ dataDir, settings: SETTINGS });
  plinth = await TestPlinth.start({ databaseUrl: postgres.url });
  [neighbour, hostile] = [await plinth.createProject(), await plinth.createProject()];
  await neighbour.sql('create table notes (id int); create policy p on notes using (true) with check (true)');
  access = await accessOf(plinth, hostile.id);
}, 60_000);
afterEach(() => Promise.all(sessions.splice(0).map((session) => session.end().catch(() => undefined))));
afterAll(async () => {
  // Stopping Plinth drops its platform database as superuser, so PostgreSQL stops afterwards.
  await plinth.stop();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

const asSuperuser = <T>(work: (client: Client) => Promise<T>): Promise<T> =>
  withConnection({ connectionString: postgres.url }, work);

const asRole = <T>(user: string, password: string, work: (client: Client) => Promise<T>): Promise<T> =>
  withConnection({ host: access.host, port: access.port, database: access.database, user, password }, work);

const ping = async (client: Client): Promise<unknown> => (await client.query('select 1')).rows;

async function sessionOf({
  host,
  port,
  database,
  owner_role,
  owner_password,
}: DatabaseAccess): Promise<Client> {
  const session = new Client({ host, port, database, user: owner_role, password: owner_password });
  session.on('error', () => undefined);
  await session.connect();
  sessions.push(session);
  return session;
}

/** Ended sessions so far, by reason. */
async function ended(reason: string): Promise<number> {
  const { text } = await plinth.admin.get('/metrics');
  return Number(
    new RegExp(`^plinth_database_sessions_ended_total\\{reason="${reason}"\\} (\\d+)`, 'm').exec(text)?.[1] ??
      0,
  );
}

describe('roles created by an owner', () => {
  it('cannot log in, with any grants by the owner', async () => {
    await hostile.sql(`create role own_login login password 'own';
      grant connect on database ${access.database} to own_login`);
    expect(await sqlstateOf(asRole('own_login', 'own', ping))).toBe(NOT_ADMITTED);
    for (const grant of [
      'grant plinth_logins to own_login',
      `grant ${access.owner_role} to own_login`,
      'set role plinth_logins',
      'create role plinth_other_owner login in role plinth_logins',
    ]) {
      await asOwner(access, (client) => client.query(grant)).catch(() => undefined);
    }
    await hostile.sql(`create role plinth_own_owner login password 'own';
      grant connect on database ${access.database} to plinth_own_owner`);
    for (const role of ['own_login', 'plinth_own_owner', 'plinth_other_owner'])
      expect(await sqlstateOf(asRole(role, 'own', ping))).toBe(NOT_ADMITTED);
  });

  it('can log in when the administrator admits them', async () => {
    await hostile.sql(`create role admitted login password 'own';
      grant connect on database ${access.database} to admitted`);
    await asSuperuser((client) => client.query('grant plinth_logins to admitted'));
    expect(await sqlstateOf(asRole('admitted', 'own', ping))).toBeNull();
  });

  it('can log in by a rule in pg_hba.local.conf', async () => {
    await hostile.sql(`create role by_rule login password 'own';
      grant connect on database ${access.database} to by_rule`);
    const rule = 'host all by_rule 127.0.0.1/32 scram-sha-256\n';
    await writeFile(path.join(dataDir, 'postgres/pg_hba.local.conf'), rule, { mode: 0o644 });
    await asSuperuser((client) => client.query('select pg_reload_conf()'));
    await eventually(async () => expect(await sqlstateOf(asRole('by_rule', 'own', ping))).toBeNull());
  });

  it('cannot log in for replication', async () => {
    expect(await readFile(path.join(dataDir, 'postgres/plinth_hba.conf'), 'utf8')).not.toMatch(
      /trust|0\.0\.0\.0|::/,
    );
    expect(
      await sqlstateOf(
        withConnection(
          {
            host: access.host,
            port: access.port,
            user: access.owner_role,
            password: access.owner_password,
            replication: 'true',
          } as object,
          ping,
        ),
      ),
    ).toBe(NOT_ADMITTED);
  });
});

it('connections: owners that open as many as possible leave some for requests to other projects', async () => {
  const owners = [access];
  while (owners.length < 6) owners.push(await accessOf(plinth, (await plinth.createProject()).id));
  let refused = 0;
  for (const owner of owners) {
    for (let n = 0; n < 40; n += 1) await sessionOf(owner).catch(() => (refused += 1));
  }
  // 53300: the rest is reserved.
  expect(refused).toBeGreaterThan(0);
  const fresh = await Promise.all(
    Array.from({ length: 8 }, () => neighbour.service.post('/rest/v1/rpc/none', {})),
  );
  expect(fresh.map(({ status }) => status)).toEqual(Array(8).fill(404));
  expect((await neighbour.service.post('/rest/v1/notes', { id: 1 })).status).toBe(201);
  expect((await plinth.admin.get('/admin/v1/projects')).status).toBe(200);
});

const TOO_MANY_CONNECTIONS = '53300';

describe('clients that never log in', () => {
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  const startUp = (): Buffer => {
    const parameters = Buffer.from(`user\0${access.owner_role}\0database\0${access.database}\0\0`);
    const header = Buffer.alloc(8);
    header.writeInt32BE(header.length + parameters.length, 0);
    // Version 3.0 of the protocol.
    header.writeInt32BE(196_608, 4);
    return Buffer.concat([header, parameters]);
  };
  /** @returns when the server has closed it */
  const open = (first: Buffer | null): Promise<unknown> => {
    const socket = connect(access.port, access.host);
    sockets.push(socket);
    socket.on('error', () => undefined).on('data', () => undefined);
    if (first) socket.write(first);
    return new Promise((resolve) => socket.once('close', resolve));
  };

  it.each([
    ['and stop before their password', true, 1],
    // Such a client uses no slot of max_connections, but one of twice as many processes.
    ['and send nothing', false, 2],
  ])('%s are dropped; projects without a connection get 503 until then', async (_what, isStarted, times) => {
    const fresh = await plinth.createProject();
    const limit = await asSuperuser(async (client) => {
      const { rows } = await client.query<{ limit: number }>(
        `select current_setting('max_connections')::int + current_setting('max_wal_senders')::int as limit`,
      );
      return rows[0]?.limit ?? 0;
    });
    const closed = Array.from({ length: times * limit + 40 }, () => open(isStarted ? startUp() : null));
    let refusal: HttpAnswer | undefined;
    await eventually(async () => {
      const [answer, sqlstate] = await Promise.all([
        fresh.service.post('/rest/v1/rpc/none', {}),
        isStarted ? sqlstateOf(asSuperuser(ping)) : TOO_MANY_CONNECTIONS,
      ]);
      // PostgreSQL checks for reserved connections after the password, so they do not help here.
      expect([answer.status, sqlstate]).toEqual([503, TOO_MANY_CONNECTIONS]);
      refusal = answer;
    });
    expect(Number(refusal?.headers.get('retry-after'))).toBeGreaterThan(0);
    await Promise.all(closed);
    await eventually(async () =>
      expect((await fresh.service.post('/rest/v1/rpc/none', {})).status).toBe(404),
    );
    expect((await neighbour.service.post('/rest/v1/notes', { id: 7 })).status).toBe(201);
  });
});

it('locks: a session that fills the lock table is ended, and other projects can write', async () => {
  const before = await ended('too_many_locks');
  const session = await sessionOf(access);
  await session
    .query('select count(pg_advisory_lock(n)) from generate_series(1, 60000) n')
    .catch(() => undefined);
  expect((await neighbour.service.post('/rest/v1/notes', { id: 2 })).status).toBe(201);
  await eventually(async () => expect(await ended('too_many_locks')).toBeGreaterThan(before));
  // The session ends a moment after it has been told to.
  await eventually(async () => {
    const { rows } = await asSuperuser((client) =>
      client.query<{ locks: number }>(
        `select count(*)::int as locks from pg_locks where locktype = 'advisory'`,
      ),
    );
    expect(rows[0]?.locks).toBeLessThan(1_000);
  });

  // Takes all locks, by several sessions of one project.
  const many = await Promise.all([1, 2, 3].map(() => sessionOf(access)));
  await Promise.all(
    many.map((one, index) =>
      one
        .query(`select count(pg_advisory_lock(${index}, n)) from generate_series(1, 200000) n`)
        .catch(() => undefined),
    ),
  );
  await eventually(async () =>
    expect((await neighbour.service.post('/rest/v1/notes', { id: 3 })).status).toBe(201),
  );
});

it('notifications: a listener that keeps the queue from being truncated is ended', async () => {
  const listener = await sessionOf(access);
  await listener.query('listen flood');
  await listener.query('begin');
  await listener.query('select 1');
  const sender = await sessionOf(access);
  const before = await ended('notify_queue');
  await eventually(async () => {
    await sender
      .query(`select count(pg_notify('flood', n || repeat('x', 7000))) from generate_series(1, 10) n`)
      .catch(() => undefined);
    expect(await ended('notify_queue')).toBeGreaterThan(before);
  }, 20_000);
  await eventually(async () => {
    const { rows } = await asSuperuser((client) =>
      client.query<{ used: number }>('select pg_notification_queue_usage() as used'),
    );
    expect(rows[0]?.used).toBeLessThan(0.1);
  });
  // This change sends a notification.
  expect((await plinth.admin.patch(`/admin/v1/projects/${neighbour.id}`, { name: 'Renamed' })).status).toBe(
    200,
  );
});

it('transaction ids: a transaction that keeps them from being reused is ended', async () => {
  const holder = await sessionOf(access);
  await holder.query('begin; create temporary table held (n int)');
  const before = await ended('old_transactions');
  const burner = await sessionOf(access);
  await burner.query('create temporary table burnt (n int)');
  await eventually(async () => {
    // Each block with a change uses a transaction id.
    await burner
      .query(
        `do $$ begin for i in 1..20000 loop
          begin insert into burnt values (i); exception when others then null; end;
        end loop; end $$`,
      )
      .catch(() => undefined);
    expect(await ended('old_transactions')).toBeGreaterThan(before);
  }, 60_000);
  await eventually(async () => expect(await sqlstateOf(ping(holder))).not.toBeNull());
}, 120_000);

it('temporary files: a statement that would fill the disk fails', async () => {
  const session = await sessionOf(access);
  const sort = session.query('select n from generate_series(1, 5000000) n order by n desc offset 4999999');
  // The SQLSTATE is configuration_limit_exceeded.
  expect(await sqlstateOf(sort)).toBe('53400');
  expect(await sqlstateOf(session.query('set temp_file_limit = -1'))).toBe('42501');
  expect(await sqlstateOf(session.query(`alter role current_user set temp_file_limit = -1`))).toBe('42501');
});
