/** No owner's SQL, of this or another project, can prevent the deletion of a project. */
import { connect, type Socket } from 'node:net';
import { Client } from 'pg';
import { ProjectsService } from '../../src/projects/projects.service';
import { ObstacleWatch } from '../../src/provisioning/obstacle-watch.service';
import {
  accessOf,
  asSuperuser,
  DatabaseAccess,
  serverVersion,
  sqlstateOf,
} from '../support/owner-connection';
import { eventually } from '../support/eventually';
import { IN_SOAK } from '../support/extent';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

let plinth: TestPlinth;
/** The connection of a hostile owner. */
let hostile: DatabaseAccess;
const sessions: Client[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  Object.assign(plinth.app.get(ObstacleWatch), { stalledMs: 500 });
  hostile = await accessOf(plinth, (await plinth.createProject()).id);
});
afterEach(async () => {
  // Some sessions never read the server's messages.
  for (const session of sessions.splice(0)) socketOf(session).destroy();
});
afterAll(() => plinth.stop());

const socketOf = (session: Client): Socket =>
  (session as unknown as { connection: { stream: Socket } }).connection.stream;

/** Opens a session until the test ends. */
async function sessionOf(
  access: DatabaseAccess,
  work?: (session: Client) => Promise<unknown>,
): Promise<Client> {
  const { host, port, database, owner_role: user, owner_password: password } = access;
  const session = new Client({ host, port, database, user, password });
  session.on('error', () => undefined);
  await session.connect();
  sessions.push(session);
  await work?.(session);
  return session;
}

const leftOf = async ({ id }: TestProject): Promise<string[]> => {
  const { rows } = await asSuperuser('postgres', (client) =>
    client.query<{ name: string }>(
      `select datname as name from pg_database where datname = $1
       union all select rolname from pg_roles where rolname like $1 || '\\_%'`,
      [`plinth_${id}`],
    ),
  );
  return rows.map(({ name }) => name);
};

async function expectDeletion(project: TestProject): Promise<void> {
  const answer = await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
  expect([answer.status, answer.body]).toEqual([200, { id: project.id, deleted: true }]);
  expect(await leftOf(project)).toEqual([]);
}

/** Waits until a client session of the database has this wait event. */
const untilWaiting = (database: string, event: string): Promise<void> =>
  eventually(async () => {
    const { rowCount } = await asSuperuser('postgres', (client) =>
      client.query(
        `select from pg_stat_activity where datname is not distinct from nullif($1, '') and wait_event = $2
           and backend_type = 'client backend'`,
        [database, event],
      ),
    );
    expect(rowCount).not.toBe(0);
  });

describe("the project's own owner cannot keep it from being deleted", () => {
  const own = (text: string, { database, owner_role }: DatabaseAccess): string =>
    text.replaceAll('DATABASE', database).replaceAll('OWNER', owner_role);

  /** The last ones would refuse or end further sessions and statements of the owner. */
  const STATES = {
    'has large objects': 'select lo_create(0) from generate_series(1, 100)',
    'has a publication': 'create table t (id int); create publication p for table t',
    'is open to all': 'grant all on database DATABASE to public',
    'is a template': 'alter database DATABASE is_template true',
    'sets another role at login': 'alter role OWNER in database DATABASE set role = anon',
    'has an empty search path': `alter role OWNER set search_path = ''`,
    'is read-only': 'alter database DATABASE set default_transaction_read_only = on',
    'loads a library that is not there': `alter database DATABASE set local_preload_libraries = 'none'`,
    'ends every statement': 'alter database DATABASE set statement_timeout = 1',
    'admits no connection': 'alter database DATABASE connection limit 0',
  };

  const TRANSACTIONS = {
    'its password': 'alter role OWNER password null',
    'its settings': 'alter role OWNER set work_mem = 1000',
    'the database': 'alter database DATABASE connection limit 7',
    'the rights on the database': 'revoke all on database DATABASE from public',
  };

  /** Each of them in the soak, and all together in the suite. */
  const eachOrAll = (texts: Record<string, string>): [string, string][] =>
    IN_SOAK ? Object.entries(texts) : [[Object.keys(texts).join(', '), Object.values(texts).join('; ')]];

  it.each(eachOrAll(STATES))('when the database %s', async (_what, text) => {
    const project = await plinth.createProject();
    const access = await accessOf(plinth, project.id);
    await sessionOf(access, async (session) => {
      for (const statement of text.split('; ')) await session.query(own(statement, access));
    });
    await expectDeletion(project);
  });

  it.each(eachOrAll(TRANSACTIONS))(
    'by a transaction that changes %s and does not end',
    async (_what, text) => {
      const project = await plinth.createProject();
      const access = await accessOf(plinth, project.id);
      await sessionOf(access, (session) => session.query(own(`begin; ${text}`, access)));
      await expectDeletion(project);
    },
  );

  it('by a prepared transaction, if the server supports them', async () => {
    const project = await plinth.createProject();
    const access = await accessOf(plinth, project.id);
    await project.sql('create table t (id int)');
    const prepare = (session: Client): Promise<unknown> =>
      session.query(`begin; insert into t values (1); prepare transaction 'kept ''open'''`);
    const state = await sqlstateOf(sessionOf(access, prepare));
    // 55000: max_prepared_transactions is 0, as it is by default.
    expect([null, '55000']).toContain(state);
    await expectDeletion(project);
  });

  it('by roles that own its objects and grant each other rights', async () => {
    if ((await serverVersion()) < 16) return;
    const project = await plinth.createProject();
    const suffix = project.id.slice(0, 8);
    await project.sql(`create role a_${suffix} login createrole; create role b_${suffix};
      grant a_${suffix} to current_user with inherit true, set true;
      grant b_${suffix} to a_${suffix} with admin option;
      grant create, usage on schema public to a_${suffix};
      set role a_${suffix}; create table theirs (id int); create role c_${suffix};
      grant select on theirs to b_${suffix}, c_${suffix}; grant b_${suffix} to c_${suffix}; reset role;
      alter default privileges for role a_${suffix} grant select on tables to c_${suffix}`);
    await expectDeletion(project);
  });
});

describe("another project's owner cannot keep it from being deleted", () => {
  it('by an open transaction that grants its roles something', async () => {
    const project = await plinth.createProject();
    const { owner_role, login_role } = await accessOf(plinth, project.id);
    await sessionOf(hostile, (session) =>
      session.query(`begin; create schema trap; grant usage on schema trap to ${owner_role}, ${login_role}`),
    );
    await expectDeletion(project);
  });

  it('by not reading a large result', async () => {
    const project = await plinth.createProject();
    await sessionOf(hostile, async (session) => {
      socketOf(session).pause();
      session.query(`select repeat('x', 100000000)`).catch(() => undefined);
    });
    await untilWaiting(hostile.database, 'ClientWrite');
    await expectDeletion(project);
  });

  it('by not sending the data of a COPY', async () => {
    const project = await plinth.createProject();
    await sessionOf(hostile, async (session) => {
      await session.query('create table if not exists lines (line text)');
      (session as unknown as { connection: { query(text: string): void } }).connection.query(
        'copy lines from stdin',
      );
    });
    await untilWaiting(hostile.database, 'ClientRead');
    await expectDeletion(project);
  });

  it('while new projects can still be created', async () => {
    await sessionOf(hostile, async (session) => {
      socketOf(session).pause();
      session.query(`select repeat('x', 100000000)`).catch(() => undefined);
    });
    await sessionOf(hostile, (session) =>
      session.query(
        `begin; create schema wide; grant usage on schema wide to anon, authenticated, service_role`,
      ),
    );
    await untilWaiting(hostile.database, 'ClientWrite');
    const project = await plinth.createProject();
    expect((await project.anon.get('/rest/v1/')).status).toBeLessThan(500);
  });
});

it('is not delayed by a client that does not finish its login', async () => {
  // Older versions do not show such a client; there only authentication_timeout ends it.
  if ((await serverVersion()) < 18) return;
  const project = await plinth.createProject();
  const socket = await halfLoggedIn();
  try {
    await expectDeletion(project);
  } finally {
    socket.destroy();
  }
});

describe('while a session that must not be ended blocks it', () => {
  it('answers 202, stops serving the project, and finishes later', async () => {
    const project = await plinth.createProject();
    const url = new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
    const superuser = new Client({ connectionString: url.href });
    superuser.on('error', () => undefined);
    await superuser.connect();
    sessions.push(superuser);
    socketOf(superuser).pause();
    superuser.query(`select repeat('x', 100000000)`).catch(() => undefined);
    await untilWaiting(url.pathname.slice(1), 'ClientWrite');

    const projects = plinth.app.get(ProjectsService);
    const { answerMs } = projects as unknown as { answerMs: number };
    Object.assign(projects, { answerMs: 1_000 });
    const answer = await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
    Object.assign(projects, { answerMs });
    expect([answer.status, answer.body]).toEqual([202, { id: project.id, deleted: false }]);
    expect((await plinth.admin.get(`/admin/v1/projects/${project.id}`)).status).toBe(404);
    expect((await project.anon.get('/rest/v1/anything')).status).toBe(401);

    socketOf(superuser).destroy();
    await eventually(async () => {
      expect(await leftOf(project)).toEqual([]);
      const log = await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}&limit=1`);
      expect(log.body[0]).toMatchObject({ action: 'project.delete' });
    }, 20_000);
  }, 60_000);
});

/** Sends the startup packet and never the password. */
async function halfLoggedIn(): Promise<Socket> {
  const { host, port, owner_role: user, database } = hostile;
  const socket = connect(port, host);
  socket.on('error', () => undefined);
  const parameters = Buffer.from(`user\0${user}\0database\0${database}\0\0`);
  const header = Buffer.alloc(8);
  header.writeInt32BE(header.length + parameters.length, 0);
  // Version 3.0 of the protocol.
  header.writeInt32BE(196_608, 4);
  socket.write(Buffer.concat([header, parameters]));
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}
