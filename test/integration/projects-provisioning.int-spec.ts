/** Creation and deletion are atomic, also when concurrent; databases of an older schema are migrated. */
import { DataSource } from 'typeorm';
import { quoteIdentifier } from '../../src/database/sql/identifier';
import { openPlatformDatabase } from '../../src/database/platform/platform-data-source';
import { ProjectUpkeep } from '../../src/projects/project-upkeep.service';
import {
  PROJECT_MIGRATIONS,
  PROJECT_SCHEMA_VERSION,
  projectDataSource,
} from '../../src/provisioning/project-migrations';
import { IN_SOAK } from '../support/extent';
import { accessOf, asOwner, asSuperuser } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

const create = (body: object) => plinth.admin.post('/admin/v1/projects', body);
type PlatformRow = Readonly<Record<string, string>>;
const platform = (query: string, values: unknown[] = []): Promise<PlatformRow[]> =>
  plinth.app.get(DataSource).query<PlatformRow[]>(query, values);

/** Databases and roles of projects that this install no longer has. */
async function leftovers(): Promise<string[]> {
  const rows = await platform(`select distinct project_id as id from audit_log where project_id is not null
    except select id from projects`);
  const ids = rows.map(({ id }) => id as string);
  const { rows: objects } = await asSuperuser('postgres', (client) =>
    client.query<{ name: string }>(
      `select name from (select datname as name from pg_database union all select rolname from pg_roles) object
       where exists (select from unnest($1::text[]) id where name like 'plinth\\_' || id || '%')`,
      [ids],
    ),
  );
  return objects.map(({ name }) => name);
}

/** Ends the sessions that currently work on a project. */
async function endProvisioning(slug: string): Promise<void> {
  const [row] = await platform('select database_name as name from projects where slug = $1', [slug]);
  if (!row) return;
  await asSuperuser('postgres', (client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where pid <> pg_backend_pid() and (datname = $1 or strpos(query, $1) > 0)`,
      [row.name],
    ),
  );
}

async function until(condition: () => Promise<boolean>, limitMs = 10_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('creating projects', () => {
  it('works for many concurrently', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => create({ name: `Crowd ${n}` })));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set(answers.map(({ body }) => body.slug)).size).toBe(10);
  });

  it('opens no database to roles of other projects at any moment', async () => {
    const { body: attacker } = await create({ name: 'Attacker' });
    let created = false;
    const work = Promise.all(Array.from({ length: 8 }, (_, n) => create({ name: `Guarded ${n}` }))).finally(
      () => (created = true),
    );
    const entered = new Set<string>();
    await asOwner(await accessOf(plinth, attacker.id), async (client) => {
      while (!created) {
        const { rows } = await client.query<{ name: string }>(
          `select datname as name from pg_database where datallowconn and datname <> current_database()
             and datname like 'plinth%' and datname not like 'plinth\\_test\\_%' and has_database_privilege(current_user, oid, 'CONNECT')`,
        );
        for (const { name } of rows) entered.add(name);
      }
    });
    expect((await work).map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect([...entered]).toEqual([]);
  });

  it('gives the slug to one of several requests, and 409 to the others', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => create({ name: 'Same', slug: 'same-slug' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect(await leftovers()).toEqual([]);
  });

  it('generates a distinct slug for each of several projects with one name', async () => {
    const namesake = { name: 'Namesake', slug: null };
    const answers = await Promise.all(Array.from({ length: 4 }, () => create(namesake)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.slug)).size).toBe(4);
  });

  it("disables JIT compilation for requests, regardless of the server's setting", async () => {
    const project = await plinth.createProject();
    await project.sql(
      `create function jit() returns text stable language sql return pg_catalog.current_setting('jit')`,
    );
    const [row] = await platform('select database_name as name from projects where id = $1', [project.id]);
    await asSuperuser('postgres', (client) =>
      client.query(`alter database ${quoteIdentifier(row?.name as string)} set jit = on`),
    );
    expect((await project.service.get('/rest/v1/rpc/jit')).body).toBe('off');
  });

  it('leaves no partial project when the connection is lost at any moment', async () => {
    const outcomes: number[] = [];
    const wasCutOff = () => outcomes.some((status) => status !== 201);
    // A cut between two connections interrupts nothing, so rounds repeat until a connection was cut.
    for (let round = 0; round < 10 || (round < 100 && !wasCutOff()); round += 1) {
      const slug = `cut-off-${round}`;
      const creation = create({ name: 'Cut off', slug });
      await new Promise((resolve) => setTimeout(resolve, (round * 40) % 410));
      await endProvisioning(slug);
      const { status } = await creation;
      outcomes.push(status);
      expect([201, 500, 503]).toContain(status);
      await plinth.app.get(ProjectUpkeep).recover();
      const rows = await platform('select status from projects where slug = $1', [slug]);
      expect(rows).toEqual(status === 201 ? [{ status: 'active' }] : []);
    }
    expect(wasCutOff()).toBe(true);
    expect(await leftovers()).toEqual([]);
  });

  it('removes its own leftovers that block a name, and no other objects', async () => {
    const { body } = await create({ name: 'Half', slug: 'half-made' });
    await platform(`update projects set status = 'provisioning' where id = $1`, [body.id]);
    const again = await create({ name: 'Half again', slug: 'half-made' });
    expect([again.status, again.body.slug]).toEqual([201, 'half-made']);
    expect(again.body.id).not.toBe(body.id);
    expect(await leftovers()).toEqual([]);
  });
});

describe('after a crash', () => {
  it.each(['provisioning', 'deleting'])(
    'a project left in the state %s is removed, whichever parts of it exist',
    async (status) => {
      const whole = await create({ name: 'Interrupted', slug: null });
      const part = await create({ name: 'Interrupted', slug: null });
      await asSuperuser('postgres', (client) =>
        client.query(`drop database plinth_${part.body.id} with (force)`),
      );
      await platform('update projects set status = $1 where id = any ($2)', [
        status,
        [whole.body.id, part.body.id],
      ]);
      await plinth.app.get(ProjectUpkeep).recover();
      expect(
        await platform('select id from projects where id = any ($1)', [[whole.body.id, part.body.id]]),
      ).toEqual([]);
      expect(await leftovers()).toEqual([]);
      const log = await plinth.admin.get(`/admin/v1/audit-log?project_id=${whole.body.id}&limit=1`);
      expect(log.body[0]).toMatchObject({
        action: 'project.undo',
        actor: 'plinth',
        details: { was: status },
      });
    },
  );
});

describe('deleting a project', () => {
  it('ends running requests and refuses later ones', async () => {
    const project = await plinth.createProject();
    const running = plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, {
      query: 'select pg_sleep(20)',
    });
    const access = await accessOf(plinth, project.id);
    await until(async () => {
      const { rowCount } = await asSuperuser('postgres', (client) =>
        client.query(`select from pg_stat_activity where datname = $1 and query like '%pg_sleep%'`, [
          access.database,
        ]),
      );
      return rowCount === 1;
    });
    const [deleted, broken] = await Promise.all([
      plinth.admin.delete(`/admin/v1/projects/${project.id}`),
      running,
    ]);
    expect([deleted.status, broken.status]).toEqual([200, 503]);
    expect((await project.anon.get('/rest/v1/anything')).status).toBe(401);
    expect((await plinth.admin.get(`/admin/v1/projects/${project.id}`)).status).toBe(404);
  });

  it('happens once when requested twice', async () => {
    const { id } = await plinth.createProject();
    const answers = await Promise.all([1, 2, 3].map(() => plinth.admin.delete(`/admin/v1/projects/${id}`)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.every((status) => [200, 404, 409].includes(status))).toBe(true);
  });
});

describe('migrations of the platform', () => {
  let other: TestPlinth;
  beforeAll(async () => (other = await TestPlinth.start()));
  afterAll(() => other.stop());

  it('can be applied, reverted and applied again, each of them', async () => {
    const dataSource = other.app.get(DataSource);
    const tables = (): Promise<unknown> =>
      dataSource.query(`select tablename from pg_tables where schemaname = 'public' order by 1`);
    const whole = await tables();
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration({ transaction: 'each' });
    expect(await tables()).toEqual([{ tablename: 'migrations' }]);
    await dataSource.runMigrations({ transaction: 'each' });
    expect(await tables()).toEqual(whole);
  });

  it.each([
    ['Projects1790000000001', 'a development version from before 0.1.0 made or migrated'],
    ['Later9990000000000', 'a newer version of Plinth made or migrated'],
  ])('are not applied to a database with %s, of which nothing is changed', async (name, reason) => {
    const { platformDatabase } = other;
    const dataSource = other.app.get(DataSource);
    await dataSource.query(`insert into migrations (timestamp, name) values (1, '${name}')`);
    const url = new URL(process.env.PLINTH_TEST_DATABASE_URL ?? '');
    url.pathname = `/${platformDatabase}`;
    await asSuperuser('postgres', (client) =>
      client.query(`grant connect on database ${platformDatabase} to public`),
    );
    await expect(openPlatformDatabase(url.href, [])).rejects.toThrow(
      `${reason} the platform database (${name})`,
    );
    const { rows } = await asSuperuser('postgres', (client) =>
      client.query(`select has_database_privilege('public', $1, 'connect') as open`, [platformDatabase]),
    );
    expect(rows).toEqual([{ open: true }]);
    await dataSource.query(`delete from migrations where name = '${name}'`);
  });
});

describe('migrations of a project', () => {
  it('can be applied, reverted and applied again, each of them', async () => {
    const { id } = await plinth.createProject();
    const access = await accessOf(plinth, id);
    const dataSource = projectDataSource({
      host: access.host,
      port: access.port,
      database: access.database,
      user: access.owner_role,
      password: access.owner_password,
    });
    await dataSource.initialize();
    try {
      const tables = (): Promise<unknown> =>
        dataSource.query(
          `select schemaname, tablename from pg_tables where schemaname in ('auth', 'storage') order by 1, 2`,
        );
      const whole = await tables();
      for (const _ of PROJECT_MIGRATIONS) await dataSource.undoLastMigration({ transaction: 'each' });
      expect(await tables()).toEqual([]);
      await dataSource.runMigrations({ transaction: 'each' });
      expect(await tables()).toEqual(whole);
    } finally {
      await dataSource.destroy();
    }
  });

  it('are applied at the start to projects of an older schema, by one process each', async () => {
    const projects = await Promise.all([1, 2, 3].map(() => plinth.createProject()));
    for (const { id } of projects) {
      const access = await accessOf(plinth, id);
      await asOwner(access, (client) =>
        client.query(`drop schema storage cascade; drop schema auth cascade;
          delete from extensions.plinth_migrations`),
      );
    }
    const ids = projects.map(({ id }) => id);
    await platform(`update projects set schema_version = 'older' where id = any ($1)`, [ids]);
    // A password changed by the owner does not prevent the migration.
    await projects[0]?.sql(`alter role current_user password 'my own'`);
    await Promise.all([1, 2].map(() => plinth.app.get(ProjectUpkeep).migrateOutdated()));
    expect(await platform('select distinct schema_version from projects where id = any ($1)', [ids])).toEqual(
      [{ schema_version: PROJECT_SCHEMA_VERSION }],
    );
    for (const project of projects) {
      expect(await project.sql(`select to_regclass('storage.buckets') is not null as there`)).toEqual([
        { there: true },
      ]);
    }
  });

  const SETTINGS = [
    ['default_transaction_read_only', 'on'],
    ['statement_timeout', '1'],
    ['lock_timeout', '1'],
    ['role', 'anon'],
    ['search_path', 'nowhere'],
    ['local_preload_libraries', 'none'],
  ];

  // Each setting in the soak, and all together in the suite.
  it.each(IN_SOAK ? SETTINGS.map((setting) => [setting]) : [SETTINGS])(
    "are applied despite the owner's session settings: %s",
    async (...settings) => {
      const { id } = await plinth.createProject();
      const access = await accessOf(plinth, id);
      await asOwner(access, async (client) => {
        await client.query(`drop schema storage cascade; create schema storage;
        grant usage on schema storage to anon, authenticated, service_role, ${access.login_role};
        delete from extensions.plinth_migrations where name like 'Storage%'`);
        for (const [name, value] of settings)
          await client.query(`alter role current_user set ${name} = '${value}'`);
      });
      await platform(`update projects set schema_version = 'older' where id = $1`, [id]);
      await plinth.app.get(ProjectUpkeep).migrateOutdated();
      expect(await platform('select schema_version from projects where id = $1', [id])).toEqual([
        { schema_version: PROJECT_SCHEMA_VERSION },
      ]);
    },
  );

  it('are applied to the other projects when one fails', async () => {
    const [broken, whole] = [await plinth.createProject(), await plinth.createProject()];
    await broken.sql(`drop table extensions.plinth_migrations`);
    await platform(`update projects set schema_version = 'older' where id = any ($1)`, [
      [broken.id, whole.id],
    ]);
    await plinth.app.get(ProjectUpkeep).migrateOutdated();
    const versions = await platform('select id, schema_version from projects where id = any ($1)', [
      [broken.id, whole.id],
    ]);
    expect(Object.fromEntries(versions.map((row) => [row.id, row.schema_version]))).toEqual({
      [broken.id]: 'older',
      [whole.id]: PROJECT_SCHEMA_VERSION,
    });
    await platform('update projects set schema_version = $1 where id = $2', [
      PROJECT_SCHEMA_VERSION,
      broken.id,
    ]);
  });
});
