/** Only the roles of a project can connect to its database, and only Plinth's role to the platform's. */
import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';
import { DatabaseAccessCheck } from '../../src/doctor/checks/database-access.check';
import { openPlatformDatabase } from '../../src/database/platform/platform-data-source';
import type { ProjectsService } from '../../src/projects/projects.service';
import { DatabaseServer } from '../../src/provisioning/database-server';
import {
  accessOf,
  asOwner,
  asSuperuser,
  type DatabaseAccess,
  serverVersion,
} from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';

let plinth: TestPlinth;
let own: DatabaseAccess;
let theirs: DatabaseAccess;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  const [attacker, victim] = await Promise.all([plinth.createProject(), plinth.createProject()]);
  [own, theirs] = [await accessOf(plinth, attacker.id), await accessOf(plinth, victim.id)];
});
afterAll(() => plinth.stop());

const admin = (query: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  asSuperuser(
    'postgres',
    async (client) => (await client.query<Record<string, unknown>>(query, values)).rows,
  );

/** This check alone: the doctor has others that read all databases of the server. */
const faults = async (): Promise<{ status: string; message: string }[]> =>
  (await plinth.app.get(DatabaseAccessCheck).find()).filter(({ status }) => status !== 'ok');

describe('the doctor', () => {
  it('finds nothing after projects were created', async () => {
    const { body } = await plinth.admin.post('/admin/v1/doctor', {});
    const found = (body.findings as { check: string }[]).filter(({ check }) => check === 'database_access');
    expect(found).toEqual([expect.objectContaining({ status: 'ok' })]);
  });

  it('reports a database that every role, or a role of another project, may connect to', async () => {
    await admin(`grant connect on database "${theirs.database}" to public, "${own.owner_role}"`);
    const found = await faults();
    await admin(`revoke connect on database "${theirs.database}" from public, "${own.owner_role}"`);
    expect(found.map(({ message }) => message).sort()).toEqual(
      [
        `every role may connect to the database ${theirs.database}`,
        `${own.owner_role} may connect to the database ${theirs.database}`,
      ].sort(),
    );
    expect(await faults()).toEqual([]);
  });

  it.each(['a role that another owner created', 'a role that all owners are members of'])(
    'reports a database that %s may connect to',
    async (kind) => {
      const isMade = kind.includes('created');
      if (isMade && (await serverVersion()) < 16) return;
      const role = isMade ? `made_${randomBytes(4).toString('hex')}` : 'anon';
      if (isMade) await asOwner(own, (client) => client.query(`create role ${role} login`));
      await admin(`grant connect on database "${theirs.database}" to ${role}`);
      const found = await faults();
      await admin(`revoke connect on database "${theirs.database}" from ${role}`);
      if (isMade) await asOwner(own, (client) => client.query(`drop role ${role}`));
      expect(found.map(({ message }) => message)).toEqual([
        `${role} may connect to the database ${theirs.database}`,
      ]);
    },
  );

  it('does not report a role that the owner of the database created', async () => {
    if ((await serverVersion()) < 16) return;
    const role = `made_${randomBytes(4).toString('hex')}`;
    await asOwner(own, (client) =>
      client.query(`create role ${role} login; grant connect on database "${own.database}" to ${role}`),
    );
    expect(await faults()).toEqual([]);
  });

  it('reports a template that every role may connect to, although it accepts no connections', async () => {
    const [template] = await admin(
      `select datname as name from pg_database where datname like 'plinth\\_template\\_%' and not datallowconn limit 1`,
    );
    await admin(`grant connect on database "${template?.name as string}" to public`);
    const found = await faults();
    await admin(`revoke connect on database "${template?.name as string}" from public`);
    expect(found.map(({ message }) => message)).toEqual([
      `every role may connect to the database ${template?.name as string}`,
    ]);
  });

  it('reports a server that it cannot reach, and the findings of the other servers', async () => {
    await admin(`grant connect on database "${theirs.database}" to public`);
    const unreachable = new DatabaseServer('postgres://plinth@127.0.0.1:1/postgres');
    const servers = { listServersElsewhere: async () => [unreachable] } as Partial<ProjectsService>;
    const check = new DatabaseAccessCheck(
      servers as ProjectsService,
      process.env.PLINTH_TEST_DATABASE_URL as string,
    );
    const found = await check.find();
    await admin(`revoke connect on database "${theirs.database}" from public`);
    expect(found.map(({ message }) => message)).toEqual([
      `every role may connect to the database ${theirs.database}`,
      expect.stringMatching(/^PostgreSQL at 127.0.0.1:1: access to databases cannot be checked: /),
    ]);
  });

  it('reports a session that outlived the right to connect', async () => {
    await admin(`grant connect on database "${theirs.database}" to "${own.owner_role}"`);
    const found = await asOwner(
      own,
      async () => {
        await admin(`revoke connect on database "${theirs.database}" from "${own.owner_role}"`);
        return faults();
      },
      { database: theirs.database },
    );
    expect(found.map(({ message }) => message)).toEqual([
      `the role ${own.owner_role} has a session in the database ${theirs.database}`,
    ]);
  });
});

describe('the platform database', () => {
  const urlOf = (name: string): string => {
    const url = new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
    url.pathname = `/${name}`;
    return url.href;
  };
  const open = async (name: string): Promise<void> => (await openPlatformDatabase(urlOf(name), [])).destroy();
  const isClosed = async (name: string): Promise<unknown> => {
    const [row] = await admin(
      `select not has_database_privilege('public', oid, 'connect') and datallowconn as closed from pg_database where datname = $1`,
      [name],
    );
    return row?.closed;
  };
  let name: string;
  beforeEach(() => void (name = `plinth_test_entry_${randomBytes(4).toString('hex')}`));
  afterEach(() => admin(`drop database if exists "${name}" with (force)`));

  it('is created by one of several processes that start together, and admits only Plinth', async () => {
    await Promise.all([open(name), open(name), open(name)]);
    expect(await isClosed(name)).toBe(true);
  });

  it('is created although the server drops the first logins, as those of a busy process', async () => {
    const { hostname, port } = new URL(urlOf(name));
    let logins = 0;
    const server = createServer((client) => {
      client.on('error', () => undefined);
      logins += 1;
      if (logins < 4 && logins !== 2) return client.resetAndDestroy();
      const behind = connect(Number(port), hostname).on('error', () => undefined);
      return client.pipe(behind).pipe(client);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const url = new URL(urlOf(name));
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await (await openPlatformDatabase(url.href, [])).destroy();
    server.close();
    expect(await isClosed(name)).toBe(true);
  });

  it('whose creation was interrupted is opened only for Plinth', async () => {
    await admin(`create database "${name}" allow_connections false`);
    await open(name);
    expect(await isClosed(name)).toBe(true);
  });

  it('that an administrator closed remains closed, and the start reports it', async () => {
    await open(name);
    await admin(`alter database "${name}" allow_connections false`);
    await expect(open(name)).rejects.toThrow(`the database "${name}" was closed to connections`);
    const [row] = await admin('select datallowconn as open from pg_database where datname = $1', [name]);
    expect(row).toEqual({ open: false });
  });

  it('that every role could connect to is closed, and sessions of other roles end', async () => {
    await admin(`create database "${name}"`);
    const ended = asOwner(
      own,
      async (client) => {
        client.on('error', () => undefined);
        await open(name);
        return client.query('select').then(
          () => false,
          () => true,
        );
      },
      { database: name },
    );
    expect(await ended).toBe(true);
    expect(await isClosed(name)).toBe(true);
  });
});
