/** A project created by an older version gets the current schema and keeps its users and sessions. */
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ProjectUpkeep } from '../../src/projects/project-upkeep.service';
import { AdminClient } from '../../src/cli/admin-client';
import { runCli } from '../../src/cli/run-cli';
import { PROJECT_MIGRATIONS, PROJECT_SCHEMA_VERSION } from '../../src/provisioning/project-migrations';
import { cliEnvironment } from '../support/cli-environment';
import { eventually } from '../support/eventually';
import { accessOf, asSuperuser } from '../support/owner-connection';
import { ADMIN_KEY, TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

/** A migration of a hypothetical later version. */
class Later9990000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table auth.users add column later integer not null default 7');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table auth.users drop column later');
  }
}

let plinth: TestPlinth;
let upkeep: ProjectUpkeep;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  upkeep = plinth.app.get(ProjectUpkeep);
});
afterAll(() => plinth.stop());
beforeEach(() => void PROJECT_MIGRATIONS.push(Later9990000000000));
afterEach(() => void PROJECT_MIGRATIONS.splice(PROJECT_MIGRATIONS.indexOf(Later9990000000000), 1));

const setVersion = (version: string, ...ids: string[]): Promise<unknown> =>
  asSuperuser(plinth.platformDatabase, (client) =>
    client.query('update projects set schema_version = $1 where id = any ($2)', [version, ids]),
  );

const isMigrated = async (project: TestProject): Promise<boolean> => {
  const rows = await project.sql(`select from pg_attribute
    where attrelid = 'auth.users'::regclass and attname = 'later'`);
  return rows.length === 1;
};

it('applies missing migrations once', async () => {
  const project = await plinth.createProject();
  const user = await project.signUp();
  for (let round = 0; round < 2; round += 1) {
    await setVersion('older', project.id);
    expect(await upkeep.migrateOutdated()).toEqual({ migrated: [project.slug], failed: [] });
  }
  expect(await upkeep.migrateOutdated()).toEqual({ migrated: [], failed: [] });
  expect(await project.sql('select later from auth.users')).toEqual([{ later: 7 }]);
  expect((await user.http.get(`${project.auth}/user`)).body.user.id).toBe(user.id);
  expect((await user.http.get(`${project.storage}/buckets`)).status).toBe(200);
});

it('adds event triggers of a newer version, but none for functions that the owner could replace', async () => {
  const [older, without] = [await plinth.createProject(), await plinth.createProject()];
  const { database } = await accessOf(plinth, older.id);
  await asSuperuser(database, (client) => client.query('drop event trigger plinth_begin_policy'));
  await asSuperuser((await accessOf(plinth, without.id)).database, (client) =>
    client.query('drop schema plinth cascade'),
  );
  await without.sql(`create schema plinth; create function plinth.announce_ddl() returns event_trigger
    language plpgsql as $$ begin alter role current_user superuser; end $$`);
  await setVersion('older', older.id, without.id);
  await upkeep.migrateOutdated();
  const policy = 'create policy p on storage.objects using (true)';
  await older.sql(policy);
  await expect(without.sql(policy)).rejects.toThrow('is not a table');
  expect(await without.sql('select evtname from pg_event_trigger')).toEqual([]);
});

it('does not change projects that a newer version has migrated', async () => {
  const project = await plinth.createProject();
  await setVersion('99_9990000000000', project.id);
  expect(await upkeep.migrateOutdated()).toEqual({ migrated: [], failed: [] });
  expect(await isMigrated(project)).toBe(false);
});

it('waits for another process that migrates the project, and then applies nothing', async () => {
  const project = await plinth.createProject();
  await setVersion('older', project.id);
  await asSuperuser(plinth.platformDatabase, async (client) => {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [project.id]);
    const upgrade = upkeep.migrateOutdated();
    await eventually(async () => {
      const { rowCount } = await client.query(
        `select from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      );
      expect(rowCount).toBe(1);
    });
    await client.query('update projects set schema_version = $1 where id = $2', [
      PROJECT_SCHEMA_VERSION,
      project.id,
    ]);
    await client.query('select pg_advisory_unlock_all()');
    expect(await upgrade).toEqual({ migrated: [], failed: [] });
  });
  expect(await isMigrated(project)).toBe(false);
});

it('does not wait in the job that runs every 30 seconds, and migrates projects that an older process creates', async () => {
  const projects = [await plinth.createProject(), await plinth.createProject()];
  const [busy, free] = projects as [TestProject, TestProject];
  await setVersion('older', busy.id, free.id);
  await asSuperuser(plinth.platformDatabase, async (client) => {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [busy.id]);
    await upkeep.keepUp();
    expect([await isMigrated(busy), await isMigrated(free)]).toEqual([false, true]);
  });
  await upkeep.keepUp();
  expect(await isMigrated(busy)).toBe(true);
});

it('keeps nothing of a migration that fails, names the reason, and repeats it', async () => {
  const [broken, whole] = [await plinth.createProject(), await plinth.createProject()];
  await broken.sql('alter table auth.users add column later text');
  await setVersion('older', broken.id, whole.id);
  const result = await upkeep.migrateOutdated();
  expect(result.migrated).toEqual([whole.slug]);
  expect(result.failed).toEqual([{ slug: broken.slug, reason: expect.stringContaining('already exists') }]);
  const outcome = await run('upgrade');
  expect([outcome.code, outcome.out]).toEqual([1, expect.stringContaining('already exists')]);
  await broken.sql('alter table auth.users drop column later');
  expect((await run('upgrade')).out).toMatch(new RegExp(`^${broken.slug} +migrated$`, 'm'));
  expect(await run('upgrade')).toEqual({ code: 0, out: 'All projects have the current schema.\n' });
  expect(await isMigrated(broken)).toBe(true);
});

async function run(...args: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
      out: (text) => void (out += text),
    }),
  );
  return { code, out };
}
