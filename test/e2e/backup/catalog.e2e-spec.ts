/** A restored database has the same catalog, rows and large objects as the archived one: both are dumped and compared. */
import { backUp, restore } from '../../support/backups';
import { contentOf, OBJECTS, schemaOf } from '../../support/catalog-copies';
import { accessOf, asOwner, asSuperuser, DatabaseAccess } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

it('restores every kind of object, with its rows, its privileges and its owner', async () => {
  const project = await plinth.createProject();
  const access = await accessOf(plinth, project.id);
  await asOwner(access, async (client) => {
    await client.query(OBJECTS);
    await client.query(`alter table auth.users add column extra text default 'by the owner'`);
    await client.query(`create policy mine on storage.files for select to anon using (false)`);
  });
  await project.signUp();
  const before = [await schemaOf(access.database), await contentOf(access.database)] as const;
  const archive = await backUp(plinth, project.id);
  await plinth.admin.delete(`/admin/v1/projects/${project.id}`);

  const restored = await restore(plinth, archive, { query: '?keep_keys=true' });
  expect([restored.status, restored.body]).toEqual([201, expect.objectContaining({ id: project.id })]);
  expect(await schemaOf(access.database)).toBe(before[0]);
  expect(await contentOf(access.database)).toEqual(before[1]);
  await asOwner(access, async (client) => {
    await client.query('create table created_later ()');
    const { rows } = await client.query(
      `select relrowsecurity from pg_class where relname in ('created_later', 'typed') order by relname`,
    );
    expect(rows).toEqual([{ relrowsecurity: true }, { relrowsecurity: false }]);
  });
}, 120_000);

interface Setting {
  readonly role: string | null;
  readonly in_database: boolean;
  readonly setting: string;
}

/** Settings of ALTER DATABASE and ALTER ROLE for a database and its owner. */
const settingsOf = (access: DatabaseAccess): Promise<Setting[]> =>
  asSuperuser(access.database, async (client) => {
    const { rows } = await client.query<Setting>(
      `select nullif(d.setrole, 0)::regrole::text as role, d.setdatabase <> 0 as in_database, s.setting
       from pg_db_role_setting d, unnest(d.setconfig) s(setting)
       where d.setdatabase = (select oid from pg_database where datname = current_database())
         or (d.setdatabase = 0 and d.setrole = $1::regrole)
       order by 1 nulls first, 2, 3`,
      [access.owner_role],
    );
    return rows;
  });

it("restores the owner's settings of the database and its roles, and lists the settings of an administrator", async () => {
  const project = await plinth.createProject({ settings: { auto_rls: false } });
  const access = await accessOf(plinth, project.id);
  const [database, owner] = [`database "${access.database}"`, `"${access.owner_role}"`];
  await asOwner(access, (client) =>
    client.query(`
      alter ${database} set work_mem to '7MB';
      alter ${database} set application_name to E'it''s a \\\\ "name", ; --';
      alter ${database} set search_path to '$user', public, 'With, "quotes"';
      alter role ${owner} in ${database} set default_transaction_read_only to on;
      alter role ${owner} in ${database} set search_path to '';
      alter role ${owner} set statement_timeout to '3s'`),
  );
  const before = await settingsOf(access);
  expect(before.filter(({ in_database: isHere }) => isHere)).toHaveLength(6);
  await asSuperuser(access.database, (client) =>
    // All projects share this role, so another owner could have made the setting.
    client.query(`alter ${database} set log_min_duration_statement to 0;
      alter role anon in ${database} set timezone to 'Asia/Kathmandu'`),
  );
  const archive = await backUp(plinth, project.id);
  const copied = await restore(plinth, archive, { query: '?slug=the-settings' });
  expect(copied.status).toBe(201);
  const ofCopy = await accessOf(plinth, copied.body.id as string);
  await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
  const restored = await restore(plinth, archive, { query: '?keep_keys=true' });
  expect([restored.status, restored.body.skipped_settings]).toEqual([
    201,
    [expect.stringMatching(/^log_min_duration_statement: permission denied/)],
  ]);
  expect(await settingsOf(access)).toEqual(before);
  const renamed = before.map(({ role, ...rest }) => ({ ...rest, role: role && `${ofCopy.owner_role}` }));
  expect(await settingsOf(ofCopy)).toEqual(renamed);
  await asOwner(access, async (client) => {
    const { rows } = await client.query(`select current_setting('work_mem') as memory`);
    expect(rows).toEqual([{ memory: '7MB' }]);
  });
}, 60_000);

it('refuses to make a backup that no restore would accept', async () => {
  const project = await plinth.createProject();
  const { database, ...access } = await accessOf(plinth, project.id);
  const set = (length: number): Promise<unknown> =>
    asOwner({ database, ...access }, (client) => {
      const names = Array.from({ length: 2_000 }, (_, index) =>
        'x'.repeat(48 + (index === 0 ? length - 99_998 : 0)),
      );
      return client.query(`alter database "${database}" set search_path = ${names.join()}`);
    });
  await set(100_000);
  const restored = await restore(plinth, await backUp(plinth, project.id), { query: '?slug=at-the-limit' });
  expect([restored.status, restored.body.skipped_settings]).toEqual([201, []]);
  await set(100_001);
  await expect(backUp(plinth, project.id)).rejects.toThrow(
    /backup answered 400.*database_settings\[\d+\]\.value.*backup_not_supported/,
  );
}, 60_000);
