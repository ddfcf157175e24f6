/** A project of an older PostgreSQL is restored on a newer one: both are dumped by the same pg_dump and compared. */
import { backUp, restore } from '../../support/backups';
import { contentOf, OBJECTS, schemaOf } from '../../support/catalog-copies';
import { accessOf, asOwner } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { installedMajors, SystemPostgres } from '../../support/system-postgres';

const NEWER = 18;
const OLDER = installedMajors(NEWER);
const LIMIT_MS = 180_000;

/** Since PostgreSQL 16, the text of a view names the table of a column only if the view has several tables. */
const withoutTables = (schema: string): string => schema.replace(/\b(generated|filled|typed)\.(?=\w)/g, '');

/** pg_dump lists the roles of a policy in the order in which pg_authid stores them, which changes with ALTER ROLE. */
const withSortedRoles = (schema: string): string =>
  schema.replace(/(?<= TO )\w+(?:, \w+)+/g, (roles) => roles.split(', ').sort().join(', '));

const comparable = (schema: string): string => withSortedRoles(withoutTables(schema));

(OLDER.length > 0 ? describe.each(OLDER) : describe.skip.each([15]))(
  `from PostgreSQL %i to ${NEWER} (needs the packages of PostgreSQL)`,
  (major) => {
    let older: SystemPostgres;
    let source: TestPlinth;
    let target: TestPlinth;
    beforeAll(async () => {
      older = await SystemPostgres.start(major);
      source = await TestPlinth.start({ databaseUrl: older.url });
      target = await TestPlinth.start({ env: { MASTER_KEY: 'another-master-key-0123456789-0123456789' } });
    }, LIMIT_MS);
    afterAll(async () => {
      await source?.stop();
      await target?.stop();
      await older?.stop();
    }, LIMIT_MS);

    it(
      'restores every kind of object, users and files',
      async () => {
        const project = await source.createProject();
        const access = await accessOf(source, project.id);
        await asOwner(access, async (client) => client.query(OBJECTS));
        const user = await project.signUp();
        await project.service.post(`${project.storage}/buckets`, { name: 'box' });
        const body = new FormData();
        body.append('file', new Blob(['content']), 'a.txt');
        const path = `${project.storage}/buckets/box/upload`;
        expect((await project.service.send('POST', path, { body })).status).toBe(201);
        const [schema, content] = [
          await schemaOf(access.database, older.url),
          await contentOf(access.database, older.url),
        ];

        const restored = await restore(target, await backUp(source, project.id), {
          query: '?keep_keys=true',
        });
        expect([restored.status, restored.body]).toEqual([
          201,
          expect.objectContaining({ id: project.id, files: 1, missing_files: 0 }),
        ]);
        const { database } = await accessOf(target, project.id);
        expect(comparable(await schemaOf(database))).toBe(comparable(schema));
        expect(await contentOf(database)).toEqual(content);
        const anon = project.anon.at(target.baseUrl);
        const credentials = { email: user.email, password: user.password };
        expect((await anon.post(`${project.auth}/login`, credentials)).status).toBe(200);
        expect((await user.http.at(target.baseUrl).get(`${project.auth}/user`)).status).toBe(200);
      },
      LIMIT_MS,
    );

    it(
      'restores a newer archive on the older server if it has only known objects',
      async () => {
        const project = await target.createProject();
        await project.sql('create table notes as select generate_series(1, 10) as n');
        const restored = await restore(source, await backUp(target, project.id), {
          query: '?keep_keys=true',
        });
        expect([restored.status, restored.body.id]).toEqual([201, project.id]);
        const service = project.service.at(source.baseUrl);
        expect((await service.get('/rest/v1/notes?select=count()')).body).toEqual([{ count: 10 }]);
      },
      LIMIT_MS,
    );
  },
);
